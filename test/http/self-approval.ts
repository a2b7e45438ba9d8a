import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Hono } from 'hono'

import t, { type Test } from 'tap'
import type { ServiceEnv } from '../../src/http/context.ts'
import type { HttpDeps } from '../../src/http/deps.ts'
import { errorHandler } from '../../src/http/middleware/error-format.ts'
import { notWhilePlanning, requireOperator } from '../../src/http/middleware/require-operator.ts'
import type { DeniedRequest } from '../../src/sessions/denied-request.ts'
import { inLongLane, isFull } from '../fixtures/full.ts'
import {
  agentFiles,
  committed,
  LIST_PLAN,
  plannedOn,
  says as prints,
} from '../fixtures/plain-agents.ts'
import {
  finished,
  must,
  planned,
  type Ref,
  says,
  step,
  stream,
} from '../fixtures/session-client.ts'
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
  const { session, events } = await finished(service, ref)
  const denied = events.filter(({ event_type }) => event_type === 'denied')
  const output: string = session.output
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

/** Of a connection that is closed, as `check` is asked for a session's own run. */
async function answered(check: typeof requireOperator, kind = 'work') {
  const run = { case_id: '', session_id: '', runId: 'x', processes: [], folderId: '', kind }
  const denied: DeniedRequest[] = []
  const sessions = {
    runs: () => [run],
    noteDenied: async (_id: string, request: DeniedRequest) => void denied.push(request),
  }
  const needs = { sessions, providers: { runs: () => [] }, log: () => {} } as unknown as HttpDeps
  const app = new Hono<ServiceEnv>()
    .onError(errorHandler((line) => t.fail(line)))
    .post('/', check(needs, 'approve'), (c) => c.text('carried out'))
  return {
    answer: await app.request('/', { method: 'POST' }, { incoming: { socket: {} } }),
    denied,
  }
}

t.test('a sender who cannot be told is refused, or while one plans only', linuxOnly, async (t) => {
  const { answer, denied } = await answered(requireOperator)
  t.equal(answer.status, 403)
  t.match(await answer.json(), { code: 'own_session', detail: /closed its connection/ })
  t.match(denied, [{ tool: 'approve', reason: /gone/ }])
  t.equal((await answered(notWhilePlanning, 'plan')).answer.status, 403)
  t.equal((await answered(notWhilePlanning, 'work')).answer.status, 200)
})

/** RELIABILITY.md AX-3 in full. */
const TIMES = isFull ? 100 : 30

t.test('what is refused to a session, and what is not', linuxOnly, async (t) => {
  const service = await opened(t)
  const { path, case_id } = await target(service)
  const of = `/cases/${case_id}`
  const log = { type: 'log', content: 'it works' }
  const { id: proof } = await must(service, 'POST', `${of}/proof`, log)
  const comment = await must(service, 'POST', `${path}/comments`, { text: 'Why?' })
  const item = { description: 'It works', type: 'log', required: true }
  const history = readFileSync(service.file(case_id, 'history.md'), 'utf8')
  const agent = { agent: 'other', cwd: '.', pid: 4_194_303, plan: 'x' }
  const refused: Request[] = [
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
    ['POST', `${of}/proposed-plans`, agent],
    ['PUT', `${of}/proof/${proof}/verify`],
    ['PUT', `${of}/state`, { state: 'WONT_FIX' }],
    ['POST', `${of}/answer`, { text: 'x' }],
    ...['case.md', '1.md', 'latest.md', 'history.md'].map(
      (name): Request => ['PUT', `${of}/memory/${name}`, `${history}Mine.\n`],
    ),
    ['DELETE', of],
    ['PUT', '/setup', { provider: 'runbook' }],
    ['PUT', '/current-case', { folder: '.', case_id: null }],
    ['POST', '/sync'],
  ]
  const allowed: Request[] = [
    ['PUT', `${of}/memory/notes.md`, 'what I found'],
    ['PUT', of, { title: 'Clearer' }],
    ['POST', `${of}/proof/checklist`, item],
    ['POST', `${of}/proof`, log],
    ['POST', `${path}/comments/${comment.id}/replies`, { text: 'So.' }],
    ['GET', path],
  ]
  writeFileSync(join(service.root, 'requests.json'), JSON.stringify([...refused, ...allowed]))
  const before = await must(service, 'GET', path)
  const { output, denied } = await tried(service, `node ask.mjs ${service.url} requests.json`)
  const lines = output.split('\n').filter((line) => /^[A-Z]+ \d{3} /.test(line))
  const answers = [...refused, ...allowed].map(([method, path], at) => [lines[at], method, path])
  for (const [at, [line, ...request]] of answers.entries()) {
    const isRefused = at < refused.length
    t.match(line, isRefused ? / 403 .*urn:casefile:own_session/ : / 20[01] /, request.join(' '))
  }
  t.strictSame(
    denied.map(({ title }) => title),
    refused.slice(0, 20).map(([method, path]) => `${method} ${path}`),
    'and the trail names the first 20',
  )
  t.match(await must(service, 'GET', path), { state: before.state, plan: before.plan })
  t.match((await must(service, 'GET', `${path}/comments`))[0].replies, [{ author: 'runbook' }])
  t.match(readFileSync(service.file(case_id, 'history.md'), 'utf8'), history)
  t.notMatch(readFileSync(service.file(case_id, 'history.md'), 'utf8'), 'Mine.')

  await t.test('asking in a loop does not fill its trail', async (t) => {
    const ask = `node raw.mjs ${service.url} pipelined${` 'POST ${path}/approve'`.repeat(TIMES)}`
    const { output, denied } = await tried(service, ask)
    t.equal(output.match(/ 403/g)?.length, TIMES)
    t.equal(denied.length, 20)
  })

  await t.test('the operator goes on while a session runs', async (t) => {
    const running = await planned(service, { runbook: step('echo begun; sleep 1000') })
    const events = await stream(service, running)
    await must(service, 'POST', `${running.path}/approve`)
    await says(events, 'begun')
    const { id } = await service.newCase()
    const { id: proof } = await must(service, 'POST', `/cases/${id}/proof`, log)
    await must(service, 'PUT', `/cases/${id}/proof/${proof}/verify`)
    await must(service, 'PUT', `/cases/${id}/state`, { state: 'RESOLVED' })
    await must(service, 'DELETE', `/cases/${id}`)
    await must(service, 'POST', `${running.path}/abandon`)
    t.match(await must(service, 'GET', path), { state: 'plan_ready' })
  })
})

t.test('what a session may not do by request while it plans', { ...linuxOnly }, async (t) => {
  const ask = 'node ask.mjs "$(cat address)" requests.json >&2'
  const files = agentFiles({ mine: { plan: `${ask}\n${prints(LIST_PLAN)}` } })
  const service = await openTestService(t, { files, trust: true })
  committed(service.root)
  const { id } = await service.newCase()
  const of = `/cases/${id}`
  const hook = { url: 'http://127.0.0.1:65000/', events: ['*'] }
  const { id: webhook } = await must(service, 'POST', '/webhooks', hook)
  const item = { description: 'It works', type: 'log', required: true }
  const requests: Request[] = [
    ['POST', '/cases', { title: 'Made while planning' }],
    ['PUT', of, { title: 'Changed while planning' }],
    ['PUT', `${of}/memory/notes.md`, 'x'],
    ['POST', `${of}/proof`, { type: 'log', content: 'x' }],
    ['POST', `${of}/proof/checklist`, item],
    ['POST', '/webhooks', hook],
    ['POST', `${of}/webhooks`, hook],
    ['PATCH', `/webhooks/${webhook}`, { active: false }],
    ['POST', `/webhooks/${webhook}/test`],
    ['POST', `/webhooks/${webhook}/deliveries/1/redeliver`],
    ['DELETE', `/webhooks/${webhook}`],
  ]
  writeFileSync(join(service.root, 'ask.mjs'), ASK)
  writeFileSync(join(service.root, 'address'), service.url)
  writeFileSync(join(service.root, 'requests.json'), JSON.stringify(requests))
  const { ref } = await plannedOn(service, id, 'mine')
  const session = await must(service, 'GET', ref.path)
  t.match(session.refused, { plan: requests.length }, session.output)
  t.strictSame(
    session.refused.first.map(({ action }: { action: string }) => action),
    requests.map(([method, path]) => `${method} ${path}`),
  )
  const cases = await must(service, 'GET', '/cases')
  t.match(cases, [{ id, title: (await must(service, 'GET', of)).title }])
  t.equal(cases.length, 1)
  t.match(await must(service, 'GET', '/webhooks'), [{ id: webhook, active: true }])
})
