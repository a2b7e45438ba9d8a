import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { findRuntime } from '../../src/runners/process/sandbox-runtime.ts'
import { finished, planned, step } from '../fixtures/session-client.ts'
import { printedBy } from '../fixtures/session-record.ts'
import { openTestService } from '../fixtures/workspace.ts'

/*
 * The real sandbox-runtime, in a folder that CASEFILE_TEST_RUNTIME names (`npm install --prefix <folder>
 * @anthropic-ai/sandbox-runtime`), with bwrap, socat and rg on the PATH. It needs no other machine: its own proxy answers
 * for hosts that are not allowed.
 */

const folder = process.env.CASEFILE_TEST_RUNTIME ?? ''
const found = await findRuntime({ root: folder, path: process.env.PATH })
const why =
  process.platform !== 'linux'
    ? 'it is tested on Linux'
    : found === null
      ? 'CASEFILE_TEST_RUNTIME names no folder with it'
      : found.missing.length > 0
        ? `missing: ${found.missing.join(', ')}`
        : null
const options = why === null ? {} : { skip: why }

const HOSTS = '---\nsandbox: { hosts: [allowed.invalid] }\n---\n'

t.test('runs reach only the named hosts, side by side', options, async (t) => {
  const { PATH } = process.env
  t.teardown(() => {
    process.env.PATH = PATH
  })
  process.env.PATH = `${join(folder, 'node_modules/.bin')}:${PATH}`
  const files = { 'casefile.md': HOSTS, a: {}, b: {} }
  const service = await openTestService(t, { files, trust: true })
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.end('reached')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const ask = (url: string) =>
    `curl -sS -m 5 -o /dev/null -w '%{http_code}\\n' ${url} 2>&1 || echo "curl ended with $?"`
  const script = [
    ask('http://denied.invalid/'),
    ask('http://allowed.invalid/'),
    `curl -sS -m 5 --noproxy '*' http://127.0.0.1:${port}/direct 2>&1 || echo closed`,
    'echo made > made.txt; touch ../memory/x 2>/dev/null && echo bad',
    'node -e \'require("child_process").execFileSync("true"); console.log("child")\'',
    'ls -A; git init -q inner && ls -A inner',
  ].join('\n')
  const runIn = async (workdir: string) => {
    const runbook = step(script, 'sh run expect=0,1')
    const ref = await planned(service, { fields: { workdir }, runbook })
    const { session, events } = await finished(service, ref)
    t.equal(session.state, 'complete')
    const guarded = events.find(({ event_type }) => event_type === 'guarded')?.payload
    t.match(guarded, { guard: 'mount', hosts: ['allowed.invalid'], runtime: found?.version })
    const output = printedBy(service, ref)
    t.match(output, /^403\n/, 'another host is denied')
    t.match(output, /\n50\d\n/, 'an allowed one is asked for, and not found')
    t.match(output, /\nclosed\n/)
    t.match(output, /\nchild\nmade\.txt\n\.git\n/, 'no dotfiles are in the working folder')
    t.notMatch(output, /\nbad\n/)
    t.equal(readFileSync(join(service.root, workdir, 'made.txt'), 'utf8'), 'made\n')
  }
  await Promise.all(['a', 'b'].map(runIn))
  t.strictSame(asked, [], 'nothing goes past it')
})
