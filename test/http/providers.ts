import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { trust } from '../../src/trust/trust-command.ts'
import { type Envelope, must, planned, step } from '../fixtures/session-client.ts'
import { runsIn } from '../fixtures/state-rows.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const linuxOnly = process.platform === 'linux' ? {} : { skip: 'a sender is told on Linux only' }

/** How long what stays sleeps: by it the processes of this test are known. */
const SECONDS = 100_000 + process.pid

/** Shell scripts, each a provider of casefile.md that gets its prompt on standard input. */
const AGENTS = {
  answers: `printf '## Hypothesis\\n\\nIt is so.\\n\\n## Plan\\n\\n'; cat; echo
echo "files: [$(ls -A)], session: [$CASEFILE_SESSION]"`,
  fails: 'echo "no account" >&2; exit 3',
  stays: `echo begun here; exec sleep ${SECONDS}`,
  asks: `exec '${process.execPath}' --input-type=module -e "$(cat)"`,
}

async function opened(t: Test): Promise<TestService> {
  const { PATH } = process.env
  t.teardown(() => {
    process.env.PATH = PATH
  })
  const files = { bin: { claude: '#!/bin/sh\necho "1.2.3 (Claude Code)"\n' }, ...scripts() }
  const service = await openTestService(t, { dev: true, files })
  process.env.PATH = `${join(service.root, 'bin')}:/usr/bin:/bin`
  chmodSync(join(service.root, 'bin', 'claude'), 0o755)
  const lines = Object.keys(AGENTS).map((name) => {
    const words = JSON.stringify(['/bin/sh', join(service.root, `${name}.sh`)])
    return `  ${name}: { kind: command, plan: ${words}, prompt: stdin }`
  })
  const settings = ['---', 'providers:', ...lines, '---', ''].join('\n')
  writeFileSync(join(service.root, 'casefile.md'), settings)
  return service
}

function scripts(): Record<string, string> {
  return Object.fromEntries(Object.entries(AGENTS).map(([name, text]) => [`${name}.sh`, text]))
}

async function trusted({ root, stateDir }: TestService): Promise<void> {
  const quiet = () => {}
  await trust({ root, stateDir, yes: true }, { print: quiet, warn: quiet, ask: null })
}

/** The answer as it comes: what it gave so far, and its end. */
function streamed(service: TestService, id: string, prompt: string) {
  const events: Envelope[] = []
  const waiting = new Set<() => void>()
  const headers = { accept: 'text/event-stream', 'content-type': 'application/json' }
  const sent = request(`${service.url}/providers/${id}/run`, { method: 'POST', headers })
  sent.on('error', () => {})
  const ended = new Promise<number | undefined>((resolve) => {
    sent.on('response', (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (more: string) => {
        const parts = (text + more).split('\n\n')
        text = parts.pop()!
        const data = parts.flatMap((part) => /^data: (.*)$/m.exec(part)?.[1] ?? [])
        events.push(...data.map((line) => JSON.parse(line) as Envelope))
        for (const wake of waiting) wake()
      })
      answer.on('error', () => {}).on('close', () => resolve(answer.statusCode))
    })
  })
  sent.end(JSON.stringify({ prompt }))
  return {
    events,
    ended,
    leave: () => sent.destroy(),
    /** What the output says behind this word. */
    async says(word: string): Promise<string> {
      for (;;) {
        const said = events.map(({ payload }) => payload.text ?? '').join('')
        const found = new RegExp(`${word} (\\S+)\\n`).exec(said)
        if (found) return found[1]!
        await new Promise<void>((resolve) => waiting.add(resolve))
      }
    },
  }
}

async function until(fact: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + 120_000
  while (!fact()) {
    if (Date.now() > deadline) throw new Error(`waited two minutes until ${what}`)
    await delay(10)
  }
}

const staying = () =>
  execFileSync('ps', ['-e', '-o', 'args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line === `sleep ${SECONDS}`).length
const scratch = ({ stateDir }: TestService) => readdirSync(join(stateDir, 'scratch'))

const service = await opened(t)

t.test('what cannot be run', async (t) => {
  const run = (id: string, body: object) => service.request('POST', `/providers/${id}/run`, body)
  const refusals: [name: string, id: string, body: object, expected: object][] = [
    [
      'the runbook',
      'runbook',
      { prompt: 'x' },
      { status: 422, json: { code: 'provider_unavailable' } },
    ],
    ['an unknown one', 'nobody', { prompt: 'x' }, { status: 404, json: { code: 'not_found' } }],
    [
      'one not trusted',
      'answers',
      { prompt: 'x' },
      { status: 422, json: { code: 'untrusted_provider' } },
    ],
    [
      'one not installed',
      'codex',
      { prompt: 'x' },
      { status: 422, json: { code: 'provider_unavailable', detail: /npm install .*codex/ } },
    ],
    ['no prompt', 'claude', {}, { status: 400 }],
    ['a blank prompt', 'claude', { prompt: ' ' }, { status: 400 }],
  ]
  for (const [name, id, body, expected] of refusals) {
    t.match(await run(id, body), expected, name)
  }
  const stream = streamed(service, 'answers', 'x')
  t.equal(await stream.ended, 422, 'without a stream')
})

t.test('GET /providers tells what can be used here', async (t) => {
  const list = await must(service, 'GET', '/providers')
  const find = (id: string) => list.find((each: { id: string }) => each.id === id)
  t.match(list[0], {
    id: 'runbook',
    kind: 'runbook',
    available: true,
    version: null,
    plan_mode: { holds: 'runs_nothing' },
    source: 'built-in',
    trusted: true,
  })
  t.match(find('claude'), {
    kind: 'command',
    available: true,
    version: '1.2.3',
    source: 'built-in',
    trusted: true,
    path: join(service.root, 'bin', 'claude'),
    plan_mode: { holds: String, note: String },
  })
  t.match(find('codex'), { available: false, path: null, version: null, advice: /npm install/ })
  const mine = { kind: 'command', source: 'casefile.md', available: true, trusted: false }
  t.match(find('answers'), { ...mine, plan_mode: { holds: 'none' } })
  await trusted(service)
  const again = await must(service, 'GET', '/providers')
  t.match(
    again.find((each: { id: string }) => each.id === 'answers'),
    { ...mine, trusted: true },
  )
  const ids = list.map(({ id }: { id: string }) => id)
  t.strictSame(ids, ['runbook', ...ids.slice(1).sort()])
  t.strictSame(
    again.map(({ id }: { id: string }) => id),
    ids,
  )
})

t.test('a provider answers a prompt in an empty folder', async (t) => {
  const run = (id: string, body: object) => service.request('POST', `/providers/${id}/run`, body)
  const { status, json } = await run('answers', { prompt: 'Do it "so".' })
  const hypothesis = 'It is so.'
  const plan = 'Do it "so".\nfiles: [], session: []'
  const text = `## Hypothesis\n\n${hypothesis}\n\n## Plan\n\n${plan}`
  t.strictSame(
    { status, json },
    { status: 200, json: { provider: 'answers', text, hypothesis, plan } },
  )

  const stream = streamed(service, 'answers', 'So.')
  t.equal(await stream.ended, 200)
  t.equal(stream.events.at(-1)?.event_type, 'result')
  t.match(stream.events.at(-1)?.payload, { provider: 'answers', hypothesis })
  const output = stream.events.filter(({ event_type }) => event_type === 'output')
  t.match(output.map(({ payload }) => payload.text).join(''), '## Plan\n\nSo.\n')

  const failed = { code: 'provider_failed', detail: /^The provider fails returned no result: / }
  t.match(await run('fails', { prompt: 'x' }), { status: 502, json: failed })
  const failing = streamed(service, 'fails', 'x')
  await failing.ended
  t.match(failing.events.at(-1), { event_type: 'error', payload: { status: 502, ...failed } })
  t.strictSame(scratch(service), [])
  t.strictSame(await must(service, 'GET', '/cases'), [])
})

t.test('what a provider runs may neither approve nor write', linuxOnly, async (t) => {
  const { path } = await planned(service, { runbook: step('true') })
  const prompt = `
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ title: 'x' })
    const approved = await fetch('${service.url}${path}/approve', { method: 'POST' })
    const made = await fetch('${service.url}/cases', { method: 'POST', headers, body })
    console.log('status ' + approved.status + ' ' + made.status)`
  const { json } = await service.request('POST', '/providers/asks/run', { prompt })
  t.equal(json.plan, 'status 403 403')
  t.match(await must(service, 'GET', path), { state: 'plan_ready' })
})

t.test('at most two run, each as long as its client stays', async (t) => {
  const [first, second] = [streamed(service, 'stays', 'x'), streamed(service, 'stays', 'x')]
  await Promise.all([first, second].map((each) => each.says('begun')))
  await until(() => staying() === 2, 'both stay')
  const third = await service.request('POST', '/providers/answers/run', { prompt: 'x' })
  t.match(third, { status: 409, json: { code: 'already_active' } })
  first.leave()
  await until(() => staying() === 1 && scratch(service).length === 1, 'the first has ended')
  await service.close()
  await second.ended
  t.equal(staying(), 0)
  t.match(second.events.at(-1), { event_type: 'error', payload: { code: 'stopping' } })
  t.strictSame(scratch(service), [])
  t.strictSame(runsIn(service.stateDir), [])
})
