import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { readProc } from '../../src/platform/proc.ts'
import { processIds } from '../../src/platform/processes.ts'
import { type BuiltService, runBuilt, startBuilt } from '../fixtures/built-service.ts'
import { inLongLane, isFull } from '../fixtures/full.ts'
import {
  agentFiles,
  committed,
  LIST_PLAN,
  plannedBy,
  says as prints,
} from '../fixtures/plain-agents.ts'
import { finished, must, planned, reaches, says, step, stream } from '../fixtures/session-client.ts'
import { printedBy } from '../fixtures/session-record.ts'

const DOORS = ['proc', 'mounts', 'watch', 'exchange', 'platform']
const PRELOAD = new URL('test/fixtures/closed-doors.mjs', `file://${process.cwd()}/`)

/** What holds on every system, with all doors closed; in full with each alone, and none, too. */
const closed = isFull ? [[], ...DOORS.map((door) => [door]), DOORS] : [DOORS]

const ASK = `
const [url, path] = process.argv.slice(2)
const answer = await fetch(url + path, { method: 'POST' })
console.log('answer', answer.status)`

/** A time to sleep that no other process has: the id that a step sees may be one of a separate namespace. */
const LEFT = `300.${process.pid}`

const TOUCHES = { plan: `touch changed-by-planning\n${prints(LIST_PLAN)}`, work: ':' }

for (const doors of closed) {
  const isOpen = (door: string) => !doors.includes(door)
  const showsProcesses = isOpen('proc')

  t.test(`without ${doors.join(', ') || 'nothing'}`, async (t) => {
    const { service, env } = await opened(t, doors)
    const { root } = service

    t.test('a second service finds the first', async (t) => {
      const again = await runBuilt(
        ['serve', '--root', root, '--state-dir', service.stateDir, '--port', '0'],
        env,
      )
      t.not(again.code, 0)
      t.match(again.stderr, `process ${service.pid}`)
      t.match(again.stderr, service.url)
    })

    t.test('a step runs, and what it left in its process group ends with it', async (t) => {
      const ref = await planned(service, {
        runbook: step(`sleep ${LEFT} & echo done`),
      })
      const { session } = await finished(service, ref)
      t.equal(session.state, 'complete')
      t.match(printedBy(service, ref), 'done')
      t.ok(await until(() => !isRunning(LEFT)), 'it has ended')
    })

    t.test('a session cannot approve, where the sender can be known', inLongLane, async (t) => {
      // two folders beside each other, as a busy one would stop it too
      for (const name of ['asks', 'elsewhere']) mkdirSync(join(root, name), { recursive: true })
      writeFileSync(join(root, 'asks/ask.mjs'), ASK)
      const plannedIn = (workdir: string, script: string) =>
        planned(service, { runbook: step(script), fields: { workdir } })
      const target = await plannedIn('elsewhere', 'true')
      const script = `unset NODE_OPTIONS; node ask.mjs ${service.url} ${target.path}/approve`
      const asking = await plannedIn('asks', script)
      await finished(service, asking)
      t.match(printedBy(service, asking), `answer ${showsProcesses ? 403 : 200}`)
      if (showsProcesses) t.match(await must(service, 'GET', target.path), { state: 'plan_ready' })
      else await reaches(service, target, 'complete')
    })

    t.test('a change by planning is prevented or found afterwards', inLongLane, async (t) => {
      const { session } = await plannedBy(service, 'touching')
      if (showsProcesses && isOpen('mounts')) t.notOk(existsSync(join(root, 'changed-by-planning')))
      else t.match(JSON.stringify(session), 'changed-by-planning')
    })

    t.test('an edit by hand is seen, and stays when the service writes', async (t) => {
      const { id } = await must(service, 'POST', '/cases', { title: 'By hand' })
      const file = join(root, 'memory/cases', id, 'case.md')
      writeFileSync(file, `${readFileSync(file, 'utf8')}\nSaved by hand.\n`)
      await must(service, 'PUT', `/cases/${id}`, { title: 'By the service' })
      t.match(readFileSync(file, 'utf8'), /By the service[\s\S]*Saved by hand\./)
      writeFileSync(file, readFileSync(file, 'utf8').replace('By the service', 'Again'))
      t.ok(await until(async () => (await must(service, 'GET', `/cases/${id}`)).title === 'Again'))
    })

    t.test('a case is removed with all its files', async (t) => {
      const { id } = await must(service, 'POST', '/cases', { title: 'Away' })
      const folder = join(root, 'memory/cases', id)
      mkdirSync(join(folder, 'closed/deep/deeper'), { recursive: true })
      chmodSync(join(folder, 'closed/deep'), 0o500)
      t.ok((await service.request('DELETE', `/cases/${id}`)).status < 300)
      t.notOk(existsSync(folder))
    })

    t.test('an agent in a terminal is known by its process', async (t) => {
      const agent = spawn('sleep', ['300'])
      t.teardown(() => agent.kill())
      const body = {
        session_id: 'of-terminal',
        transcript_path: '/home/ada/t.jsonl',
        cwd: realpathSync(root),
        permission_mode: 'default',
        hook_event_name: 'SessionStart',
        source: 'startup',
      }
      const reply = await fetch(`${service.url}/hooks/claude`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-casefile-pid': String(agent.pid) },
        body: JSON.stringify(body),
      })
      t.ok(reply.status < 300, await reply.text())
    })

    t.test('after kill -9, the next start frees the workspace', inLongLane, async (t) => {
      const ref = await planned(service, {
        runbook: step(`echo begun; exec sleep ${LEFT}`),
      })
      const events = await stream(service, ref)
      await must(service, 'POST', `${ref.path}/approve`)
      await says(events, 'begun')
      t.ok(await until(() => isRunning(LEFT)), 'it runs')
      await service.stop('SIGKILL')
      await service.restart()
      t.match(await must(service, 'GET', ref.path), { state: 'failed' })
      t.ok(await until(() => !isRunning(LEFT)), 'its process has ended')
    })

    t.test('it ends well', async (t) => {
      const { code, signal } = await service.stop()
      t.strictSame({ code, signal }, { code: 0, signal: null })
    })
  })
}

async function opened(t: Test, doors: string[]) {
  const root = t.testdir(agentFiles({ touching: TOUCHES }))
  committed(root)
  const stateDir = t.testdirName.concat('-state')
  mkdirSync(stateDir, { recursive: true })
  const env: Record<string, string> =
    doors.length === 0 ? {} : { NODE_OPTIONS: `--import=${PRELOAD}?doors=${doors.join(',')}` }
  const service: BuiltService = await startBuilt(t, { root, stateDir, env, args: ['--trust'] })
  return { service, env }
}

/** Whether a process has the word among its arguments. A zombie has none. */
function isRunning(word: string): boolean {
  return processIds().some((pid) => readProc(`${pid}/cmdline`)?.split('\0').includes(word))
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<boolean> {
  const limit = performance.now() + 15_000
  while (performance.now() < limit) {
    if (await isSo()) return true
    await delay(50)
  }
  return false
}
