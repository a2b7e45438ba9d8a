import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { createApp } from '../../src/http/app.ts'
import { createStreamRegistry } from '../../src/http/sse/stream-registry.ts'
import type { DeniedRequest } from '../../src/sessions/denied-request.ts'
import { inLongLane } from '../fixtures/full.ts'
import {
  agentFiles,
  committed,
  LIST_PLAN,
  plannedOn,
  says as prints,
} from '../fixtures/plain-agents.ts'
import {
  envelope,
  finished,
  must,
  planned,
  type Ref,
  says,
  step,
  stream,
} from '../fixtures/session-client.ts'
import { printedBy } from '../fixtures/session-record.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const linuxOnly = process.platform === 'linux' ? {} : { skip: 'a sender is told on Linux only' }

/** `node ask.mjs <url> <method> <path>`, or `<url> <file>` for requests in JSON: prints the status of each answer. */
const ASK = `
import { readFileSync } from 'node:fs'
const [url, ...rest] = process.argv.slice(2)
const requests = rest.length === 1 ? JSON.parse(readFileSync(rest[0], 'utf8')) : [rest]
for (const [method, path, body = null] of requests) {
  const isText = body === null || typeof body === 'string'
  const headers = isText ? {} : { 'content-type': 'application/json' }
  const answer = await fetch(url + path, { method, headers, body: isText ? body : JSON.stringify(body) })
  console.log(method, answer.status, (await answer.text()).slice(0, 2000))
}`

type Request = [method: string, path: string, body?: object | string | null]

/** Writes all requests at once on one connection, and prints every status; with \`leave\`, waits for none. */
const RAW = `
import { connect } from 'node:net'
const [url, how, ...requests] = process.argv.slice(2)
const { hostname, port, host } = new URL(url)
const socket = connect({ port, host: hostname })
const text = requests.map((line) => line + ' HTTP/1.1\\r\\nHost: ' + host + '\\r\\n\\r\\n')
const ends = () => process.exit()
if (how === 'leave') socket.write(text.join(''), ends)
else if (how === 'pipelined') socket.write(text.join(''))
else socket.write(text.shift())
let said = ''
socket.setEncoding('utf8').on('data', (more) => {
  said += more
  const statuses = said.match(/HTTP\\/1.1 \\d+/g) ?? []
  if (how === 'kept' && statuses.length === 1 && text.length > 0) socket.write(text.shift())
  if (statuses.length === requests.length) {
    console.log(statuses.join(' '))
    ends()
  }
})`

async function opened(t: Test): Promise<TestService> {
  const service = await openTestService(t)
  writeFileSync(join(service.root, 'ask.mjs'), ASK)
  writeFileSync(join(service.root, 'raw.mjs'), RAW)
  return service
}

/** Runs the script as a session's step, and gives its output and its `denied` lines. */
async function tried(service: TestService, script: string) {
  const ref = await planned(service, { runbook: step(script) })
  const { events } = await finished(service, ref)
  const denied = events.filter(({ event_type }) => event_type === 'denied')
  const output = printedBy(service, ref)
  return { events, output, denied: denied.map(({ payload }) => payload) }
}

const target = (service: TestService): Promise<Ref> =>
  planned(service, { runbook: step('touch approved-by-itself') })

const WAIT = 'while [ ! -s out ]; do sleep 0.05; done; cat out'

t.test(
  'a session cannot approve, however its process has hidden',
  { ...inLongLane, ...linuxOnly },
  async (t) => {
    const service = await opened(t)
    const { path, id } = await target(service)
    const ask = `node ask.mjs ${service.url} POST ${path}/approve`
    const raw = (how: string) =>
      `node raw.mjs ${service.url} ${how} 'GET /version' 'POST ${path}/approve'`
    const ways: [name: string, script: string][] = [
      ['as it is', ask],
      ['in a session of its own', `setsid -w ${ask}`],
      ['forked twice', `(setsid ${ask} > out &); ${WAIT}; rm out`],
      ['without an environment', `env -i PATH="$PATH" ${ask}`],
      [
        'forked twice, without an environment',
        `(env -i PATH="$PATH" ${ask} > out &); ${WAIT}; rm out`,
      ],
      ['as the second request of a connection', raw('kept')],
      ['right behind another request', raw('pipelined')],
    ]
    for (const [name, script] of ways) {
      await t.test(name, async (t) => {
        const { output, denied } = await tried(service, script)
        t.match(output, / 403\b/)
        t.match(denied, [{ tool: 'approve', title: `POST ${path}/approve`, pid: Number }])
        t.equal(denied.length, 1)
        t.match(await must(service, 'GET', path), { id, state: 'plan_ready' })
      })
    }

    await t.test('without waiting for the answer', async (t) => {
      // abandoning needs no free folder, so one that got through would show
      const leave = `node raw.mjs ${service.url} leave 'POST ${path}/abandon'`
      // one that is gone before it is read may never arrive at all
      const often = `i=0; while [ $i -lt 15 ]; do ${leave}; i=$((i + 1)); done`
      const { denied } = await tried(service, often)
      t.ok(denied.length > 0)
      for (const payload of denied) t.match(payload, { tool: 'abandon', reason: String })
      t.match(await must(service, 'GET', path), { state: 'plan_ready' })
    })

    await t.test('asking in a loop does not fill its trail', async (t) => {
      const asks = ` 'POST ${path}/approve'`.repeat(100) // RELIABILITY.md AX-3
      const { output, denied } = await tried(
        service,
        `node raw.mjs ${service.url} pipelined${asks}`,
      )
      t.equal(output.match(/ 403/g)?.length, 100)
      t.equal(denied.length, 20)
    })

    await t.test('forked twice, in another session, without an environment', async (t) => {
      const hidden = `env -i PATH="$PATH" setsid ${ask}`
      const { output, events } = await tried(service, `(${hidden} > out &); ${WAIT}; rm out`)
      const guard = events.find(({ event_type }) => event_type === 'guarded')?.payload.guard
      if (guard !== 'mount') return t.pass('', { skip: 'it cannot be told without a mount' })
      t.match(output, / 403\b/)
      t.match(await must(service, 'GET', path), { state: 'plan_ready' })
    })
  },
)

/** The service while a run is under way, as it answers to a sender who has closed the connection: who that was cannot be told. */
function whileOneRuns({ service }: TestService, kind: 'work' | 'plan') {
  const run = { case_id: '', session_id: '', runId: 'x', processes: [], folderId: '', kind }
  const denied: DeniedRequest[] = []
  const sessions = {
    ...service.sessions,
    runs: () => [run],
    noteDenied: async (_id: string, request: DeniedRequest) => void denied.push(request),
  } as unknown as typeof service.sessions
  const app = createApp(
    { ...service, sessions },
    { port: () => 0, streams: createStreamRegistry() },
  )
  const answerTo = async ([method, path, body]: Request) => {
    const isJson = typeof body === 'object'
    const type: Record<string, string> = isJson ? { 'content-type': 'application/json' } : {}
    const incoming = Object.assign(
      Readable.from([Buffer.from(isJson ? JSON.stringify(body) : (body ?? ''))]),
      {
        socket: {},
        url: path,
        headers: { host: 'localhost' },
        rawHeaders: ['Host', 'localhost'],
      },
    )
    return app.request(path, { method, headers: type }, { incoming })
  }
  return { answerTo, denied }
}

const name = ([method, path]: Request) => `${method} ${path}`

const PLAN = { agent: 'other', cwd: '.', pid: 4_194_303, plan: 'x' }
const LOG = { type: 'log', content: 'it works' }
const HOOK = { url: 'http://127.0.0.1:65000/', events: ['*'] }

t.test(
  'what is refused to a session that works or plans, and what is not',
  linuxOnly,
  async (t) => {
    const service = await openTestService(t)
    const { path, case_id } = await target(service)
    const of = `/cases/${case_id}`
    const { id: proof } = await must(service, 'POST', `${of}/proof`, LOG)
    const comment = await must(service, 'POST', `${path}/comments`, { text: 'Why?' })
    const { id: hook } = await must(service, 'POST', '/webhooks', HOOK)
    const history = readFileSync(service.file(case_id, 'history.md'), 'utf8')
    const item = { description: 'It works', type: 'log', required: true }
    const ofOperator: Request[] = [
      ['POST', `${path}/approve`],
      ['PUT', `${path}/plan`, { plan: 'another' }],
      ['POST', `${path}/revise`, { note: 'another' }],
      ['POST', `${path}/abandon`],
      ['DELETE', `${path}/queue`],
      ['POST', `${path}/apply`],
      ['POST', `${path}/discard`],
      ['POST', `${path}/comments`, { text: 'x' }],
      ['PUT', `${path}/comments/${comment.id}`, { text: 'x' }],
      ['DELETE', `${path}/comments/${comment.id}`],
      ['POST', `${of}/sessions`, { type: 'verifying' }],
      ['POST', `${of}/proposed-plans`, PLAN],
      ['PUT', `${of}/proof/${proof}/verify`],
      ['PUT', `${of}/state`, { state: 'WONT_FIX' }],
      ['POST', `${of}/answer`, { text: 'x' }],
      ...['case.md', '1.md', 'latest.md', 'history.md'].map(
        (name): Request => ['PUT', `${of}/memory/${name}`, `${history}Mine.\n`],
      ),
      ['DELETE', of],
      ['PUT', '/setup', { provider: 'runbook' }],
      ['PUT', '/current-case', { folder: '.', case_id: null }],
      ['POST', '/conversations', { agent: 'codex', case_id }],
      ['POST', '/conversations/x/adopt', { case_id }],
      ['POST', '/sync'],
    ]
    const whoWorks: Request[] = [
      ['PUT', `${of}/memory/notes.md`, 'what I found'],
      ['PUT', of, { title: 'Clearer' }],
      ['POST', '/cases', { title: 'Another' }],
      ['POST', `${of}/proof/checklist`, item],
      ['POST', `${of}/proof`, LOG],
      ['POST', '/webhooks', HOOK],
      ['POST', `${of}/webhooks`, HOOK],
      ['PATCH', `/webhooks/${hook}`, { active: false }],
      ['DELETE', `/webhooks/${hook}`],
    ]
    const deliveries: Request[] = [
      ['POST', `/webhooks/${hook}/test`],
      ['POST', `/webhooks/${hook}/deliveries/1/redeliver`],
    ]
    const planning = whileOneRuns(service, 'plan')
    for (const request of [...ofOperator, ...deliveries, ...whoWorks]) {
      const answer = await planning.answerTo(request)
      t.match([answer.status, await answer.json()], [403, { code: 'own_session' }], name(request))
    }
    const working = whileOneRuns(service, 'work')
    for (const request of ofOperator) {
      const answer = await working.answerTo(request)
      const refusal = { code: 'own_session', detail: /closed its connection/ }
      t.match([answer.status, await answer.json()], [403, refusal], name(request))
    }
    t.strictSame(
      working.denied.map(({ title }) => title),
      ofOperator.map(name),
    )
    t.match(working.denied[0], { tool: 'approve', reason: /gone/ })
    t.equal(
      readFileSync(service.file(case_id, 'history.md'), 'utf8'),
      history,
      'none was carried out',
    )
    for (const request of [...whoWorks, ['GET', path] as Request]) {
      t.match((await working.answerTo(request)).status, /^20[01]$/, name(request))
    }
  },
)

t.test('a session is told from the operator by the process that asks', linuxOnly, async (t) => {
  const service = await opened(t)
  const { path, case_id } = await target(service)
  const of = `/cases/${case_id}`
  const comment = await must(service, 'POST', `${path}/comments`, { text: 'Why?' })
  const asked: Request[] = [
    ['POST', `${path}/approve`],
    ['POST', `${path}/comments/${comment.id}/replies`, { text: 'So.' }],
    ['POST', `${of}/proof`, LOG],
  ]
  writeFileSync(join(service.root, 'requests.json'), JSON.stringify(asked))
  const script = `node ask.mjs ${service.url} requests.json\necho asked; while [ ! -e go ]; do sleep 0.02; done`
  const running = await planned(service, { runbook: step(script) })
  const events = await stream(service, running)
  await must(service, 'POST', `${running.path}/approve`)
  await says(events, 'asked')
  const { id } = await service.newCase()
  await must(service, 'PUT', `/cases/${id}/state`, { state: 'BLOCKED' })
  await must(service, 'DELETE', `/cases/${id}`)
  writeFileSync(join(service.root, 'go'), '')
  await events.closed
  const output = printedBy(service, running)
  const statuses = output
    .split('\n')
    .flatMap((line: string) => /^[A-Z]+ (\d{3}) /.exec(line)?.[1] ?? [])
  t.strictSame(statuses, ['403', '201', '201'])
  t.match(output, 'urn:casefile:own_session')
  const denied = events.received.filter(({ event }) => event === 'denied').map(envelope)
  t.match(
    denied.map(({ payload }) => payload),
    [{ tool: 'approve', title: `POST ${path}/approve`, pid: Number }],
  )
  t.equal(denied.length, 1)
  t.match(await must(service, 'GET', path), { state: 'plan_ready' })
  const [answered] = (await must(service, 'GET', path)).comments.list
  t.match(answered.replies, [{ author: 'runbook' }])
})

t.test('what a session may not do by request while it plans', { ...linuxOnly }, async (t) => {
  const ask = 'node ask.mjs "$(cat address)" requests.json >&2'
  const files = agentFiles({ mine: { plan: `${ask}\n${prints(LIST_PLAN)}` } })
  const service = await openTestService(t, { files, trust: true })
  committed(service.root)
  const { id } = await service.newCase()
  const requests: Request[] = [
    ['POST', '/cases', { title: 'Made while planning' }],
    ['PUT', `/cases/${id}/memory/notes.md`, 'x'],
  ]
  writeFileSync(join(service.root, 'ask.mjs'), ASK)
  writeFileSync(join(service.root, 'address'), service.url)
  writeFileSync(join(service.root, 'requests.json'), JSON.stringify(requests))
  const { ref } = await plannedOn(service, id, 'mine')
  const session = await must(service, 'GET', ref.path)
  t.match(session.findings.refused, { plan: requests.length }, session.output)
  t.strictSame(
    session.findings.refused.first.map(({ action }: { action: string }) => action),
    requests.map(name),
  )
  t.equal((await must(service, 'GET', '/cases')).length, 1)
})
