// An answer is true: whatever system call of a request fails, once or for a while, what it says is what the files say,
// then and after a restart; each change has its events, and nothing else does; a refused plan does not run.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type BuiltService, startBuilt } from '../fixtures/built-service.ts'
import { connect } from '../fixtures/event-source.ts'
import { spread } from '../fixtures/faults/chance.ts'
import {
  buildFailingCalls,
  CALLS,
  type FailingCalls,
  type Fault,
  failingCalls,
} from '../fixtures/faults/failing-calls.ts'
import { type PlainCase, readPlainTree } from '../fixtures/faults/plain-tree.ts'
import { type Prepared, REQUESTS, type RequestKind, ranFile } from '../fixtures/faults/requests.ts'
import { isFull } from '../fixtures/full.ts'
import { randomFrom } from '../fixtures/random.ts'
import { type Answer, type Envelope, envelope, must } from '../fixtures/session-client.ts'

/*
 * In full each call of each request fails, once and for 2 s (CASEFILE_TEST_FULL=1), else some do, by a seed that is
 * printed and that CASEFILE_TEST_SEED repeats. CASEFILE_TEST_ONLY is a part of `request, call, error`.
 */
const { CASEFILE_TEST_SEED, CASEFILE_TEST_ONLY = '' } = process.env
const seed = Number(CASEFILE_TEST_SEED)
const chance = randomFrom(seed)
const LIMIT = { timeout: 3_600_000 }
t.setTimeout(LIMIT.timeout)

/** In turns, one for the call alone and another one that lasts: 110 faults for 55 calls have all of them twice. */
const DISK = ['ENOSPC', 'EIO', 'EDQUOT', 'EMFILE', 'EACCES', 'EPERM'] as const
const ERRORS: readonly Fault['error'][] = [...DISK, 'EROFS', 'ESTALE', 'EBUSY', 'EXDEV', 'EINVAL']
const LASTS_MS = 2000
/** Services side by side, as most of the time is waiting. */
const SERVICES = isFull ? 6 : 2
const TRIALS = isFull ? Number.POSITIVE_INFINITY : 40
/** So many trials between two starts. */
const BATCH = 25
const PATIENCE_MS = 15_000
const REFUSALS: readonly [status: number, code: string][] = [
  [507, 'storage_full'],
  [500, 'storage_failed'],
  [409, 'changed_meanwhile'],
  [409, 'unreadable_file'],
]

interface Trial {
  kind: RequestKind
  fault: Fault
}

/** What a trial left, for the look after a restart. */
interface Outcome {
  what: string
  kind: RequestKind
  mark: string
  prepared: Prepared
  isDone: boolean
}

let serial = 0

t.test('whatever call of a request fails, its answer is true', LIMIT, async (t) => {
  t.teardown(() => {}) // or tap removes the testdir before the services have ended
  const dir = t.testdir({})
  const built = buildFailingCalls(dir)
  if ('why' in built) return t.pass(built.why, { skip: built.why })
  t.comment(`CASEFILE_TEST_SEED=${seed}`)
  const services = await Promise.all(
    Array.from({ length: SERVICES }, (_, n) => openService(t, join(dir, String(n)), built.library)),
  )
  const trials = await allTrials(services[0]!)
  t.comment(`${trials.length} faults`)
  let failed = 0
  await Promise.all(
    services.map(async (service) => {
      for (let batch = trials.splice(0, BATCH); batch.length > 0; batch = trials.splice(0, BATCH)) {
        const outcomes: Outcome[] = []
        for (const trial of batch) outcomes.push(...(await tryOne(t, service, trial)))
        failed += outcomes.length
        await service.restart(chance() < 0.5 ? 'SIGKILL' : 'SIGTERM')
        await lookAgain(t, service, outcomes)
        t.comment(`${trials.length} to go`)
      }
    }),
  )
  t.ok(failed > 0, `${failed} calls failed`)
})

interface FaultyService extends BuiltService {
  calls: FailingCalls
}

async function openService(t: Test, folder: string, library: string): Promise<FaultyService> {
  const [root, stateDir] = [join(folder, 'root'), join(folder, 'state')]
  for (const each of [root, stateDir]) mkdirSync(each, { recursive: true })
  const calls = failingCalls(library, join(folder, 'control'))
  t.teardown(() => calls.close())
  const options = { root, stateDir, args: ['--no-mount'], env: calls.env }
  const service = await startBuilt(t, options)
  // what is made once is made before
  await must(service, 'POST', '/cases', { title: 'The first one' })
  return Object.defineProperties({ calls }, Object.getOwnPropertyDescriptors(service)) as never
}

/** Each call of each request, with each error; of the calls as many as there are on a disk that works. */
async function allTrials(service: FaultyService): Promise<Trial[]> {
  const trials: Trial[] = []
  let turn = 0
  for (const kind of REQUESTS) {
    for (const call of CALLS) {
      const prepared = await kind.prepare(service, `count${++serial}`)
      const fault = { call, error: 'EIO', from: Number.POSITIVE_INFINITY, lastsMs: 0 } as const
      service.calls.arm(fault, [service.root, service.stateDir])
      await service.request(prepared.method, prepared.path, prepared.body)
      const { count } = service.calls.seen()
      service.calls.disarm()
      await atRest(service, kind, prepared)
      for (let from = 1; from <= count; from++) {
        for (const lastsMs of [0, LASTS_MS]) {
          const error = ERRORS[turn++ % ERRORS.length]!
          trials.push({ kind, fault: { call, error, from, lastsMs } })
        }
      }
    }
  }
  const chosen = trials.filter((trial) => said(trial).includes(CASEFILE_TEST_ONLY))
  if (chosen.length <= TRIALS) return chosen
  return spread(chosen.length, TRIALS, chance).map((n) => chosen[n - 1]!)
}

const said = ({ kind, fault: { call, error, from, lastsMs } }: Trial) =>
  `${kind.name}, ${call}, ${error}${lastsMs > 0 ? ' for 2 s' : ''}, call ${from}`

/** Empty where the call that was to fail never came. */
async function tryOne(t: Test, service: FaultyService, trial: Trial): Promise<Outcome[]> {
  const { kind, fault } = trial
  const mark = `mark${++serial}x`
  const prepared = await kind.prepare(service, mark)
  service.calls.arm(fault, [service.root, service.stateDir])
  let answer: Answer
  try {
    answer = await service.request(prepared.method, prepared.path, prepared.body)
  } catch (error) {
    t.fail(`${said(trial)}: no answer: ${error}`)
    await service.restart()
    return []
  }
  const isDone = answer.status < 300
  const what = `${said(trial)}: ${answer.status} ${isDone ? '' : answer.json?.detail}`
  const { code, detail = '' } = isDone ? {} : (answer.json ?? {})
  const isTrue = isDone || REFUSALS.some((each) => each[0] === answer.status && each[1] === code)
  if (!isTrue || /^[^.]*$/.test(isDone ? '.' : detail)) t.fail(`no answer that helps: ${what}`)
  const outcome = { what, kind, mark, prepared, isDone }
  const ofCase = () => caseOf(service, outcome)
  // as soon as it is answered, whatever still fails; a session may need the disk to go back
  if (kind.name !== 'approve' && kind.isDone(ofCase(), mark) !== isDone) {
    t.fail(`the files differ from the answer: ${what}`)
  }
  if (fault.lastsMs > 0) await delay(LASTS_MS)
  const { hits } = service.calls.seen()
  service.calls.disarm()
  if (hits === 0) {
    await atRest(service, kind, prepared)
    return []
  }
  outcome.prepared.id ??= idOf(service, mark)
  await atRest(service, kind, prepared)
  if (kind.isDone(ofCase(), mark) !== isDone) t.fail(`later the files differ: ${what}`)
  await mustGoOn(t, service, what)
  return [outcome]
}

/** After a restart all is as it was answered; a refused approval works. */
async function lookAgain(t: Test, service: FaultyService, outcomes: Outcome[]): Promise<void> {
  const told = await eventsOf(service)
  for (const outcome of outcomes) {
    const { what, kind, mark, isDone, prepared } = outcome
    const found = caseOf(service, outcome)
    if (kind.isDone(found, mark) !== isDone) t.fail(`after a restart the files differ: ${what}`)
    for (const flaw of eventFlaws(outcome, found, told)) t.fail(`${flaw}: ${what}`)
    if (kind.name === 'approve' && !isDone) await approveAgain(t, service, outcome)
    if (found) await must(service, 'DELETE', `/cases/${prepared.id}`)
  }
}

async function approveAgain(t: Test, service: FaultyService, outcome: Outcome): Promise<void> {
  const { what, mark, kind, prepared } = outcome
  const hasRun = existsSync(join(service.root, ranFile(mark)))
  if (hasRun) t.fail(`the refused plan has run: ${what}`)
  const again = await service.request('POST', prepared.path)
  if (again.status >= 300) t.fail(`cannot be approved again, ${again.text}: ${what}`)
  else await atRest(service, kind, prepared)
}

const AT_REST = ['plan_ready', 'complete', 'failed', 'abandoned']

/** Until the sessions of the case are. */
async function atRest(service: FaultyService, kind: RequestKind, { id }: Prepared): Promise<void> {
  if (id === null || !['session create', 'approve', 'abandon'].includes(kind.name)) return
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until; await delay(20)) {
    const { status, json } = await service.request('GET', `/cases/${id}/sessions`)
    if (status === 200 && json.every((each: { state: string }) => AT_REST.includes(each.state)))
      return
  }
  throw new Error(`the session of case ${id} comes to no rest`)
}

async function mustGoOn(t: Test, service: FaultyService, what: string): Promise<void> {
  for (const until = performance.now() + PATIENCE_MS; ; await delay(50)) {
    const { status, json } = await service.request('GET', '/health')
    if (status === 200 && json.status === 'ok') return
    if (performance.now() < until) continue
    t.fail(`health stays ${JSON.stringify(json)}: ${what}`)
    return
  }
}

function caseOf({ root }: FaultyService, { prepared, mark }: Outcome): PlainCase | undefined {
  const { cases } = readPlainTree(root)
  if (prepared.id !== null) return cases.get(prepared.id)
  return [...cases.values()].find(({ title }) => title === mark)
}

function idOf({ root }: FaultyService, mark: string): string | null {
  const found = [...readPlainTree(root).cases].find(([, { title }]) => title === mark)
  return found?.[0] ?? null
}

async function eventsOf(service: FaultyService): Promise<Envelope[]> {
  const { id } = await must(service, 'POST', '/cases', { title: 'The last one' })
  const all: Envelope[] = []
  const events = await connect(`${service.url}/events?output=no`)
  await events.next((event) => {
    all.push(envelope(event))
    return all.at(-1)!.payload.case_id === id
  })
  events.close()
  return all
}

/** What must be told once where a request was made, and not at all where it was not. */
const EVENTS: Record<string, string> = {
  'create case': 'case_created',
  'PUT case': 'case_updated',
  state: 'case_state_changed',
  checklist: 'case_updated',
  'memory PUT': 'memory_updated',
  'proof attach': 'proof_created',
  verify: 'proof_updated',
  'DELETE case': 'case_deleted',
  'session create': 'session_created',
}

function eventFlaws(
  { kind, isDone, prepared }: Outcome,
  found: PlainCase | undefined,
  told: Envelope[],
): string[] {
  if (prepared.id === null) return []
  const own = told.filter(({ payload }) => payload.case_id === prepared.id)
  const count = (type: string) => own.filter(({ event_type }) => event_type === type).length
  const flaws: string[] = []
  const type = EVENTS[kind.name]
  if (type !== undefined) {
    const wanted = (isDone ? 1 : 0) + (kind.name === 'memory PUT' ? 1 : 0)
    if (count(type) !== wanted) flaws.push(`${type} is told ${count(type)} times`)
  }
  for (const [id, { trail }] of found?.sessions ?? []) {
    const types = own
      .filter(({ payload }) => payload.session_id === id)
      .map(({ event_type }) => event_type)
      .filter((each) => trail.includes(each))
    if (
      types.toSorted().join() !==
      trail
        .filter((each) => types.includes(each))
        .toSorted()
        .join()
    )
      flaws.push(`the trail ${trail.join()} is told as ${types.join()}`)
  }
  return flaws
}
