import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { createClient } from '../../src/client/client.ts'
import { changeMemory, withParagraphs } from '../../src/client/memory-change.ts'
import { errorFrom } from '../../src/client/problem.ts'
import { ConnectionLost, type HttpRequest, type HttpResponse } from '../../src/client/request.ts'
import { must, planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const app = await openTestService(t)
const ending = new AbortController()
const client = createClient({ url: app.url }, ending.signal, { from: 'mcp', who: 'Zoë 日本' })

t.test('a request has the name of its sender, and throws the error of the service', async (t) => {
  const { body } = await client.request('POST', '/cases', { body: { title: 'A' } })
  t.match(await must(app, 'GET', `/cases/${body.id}/history`), [{ who: 'Zoë 日本' }])
  const page = await client.request('GET', '/cases?limit=1')
  t.match([page.total, page.body.length], [1, 1])
  await t.rejects(
    client.request('PUT', `/cases/${body.id}/state`, { body: { state: 'RESOLVED' } }),
    {
      code: 'proof_gate',
      extra: { missing: ['at least one verified proof'] },
    },
  )
  await t.rejects(client.request('POST', '/cases', { body: {} }), {
    code: 'bad_request',
    errors: [{ path: 'title' }],
  })
  t.match(errorFrom('GET', '/x', 502, '<html>'), { code: 'internal', message: /answered 502/ })
  t.match(errorFrom('GET', '/x', 409, { detail: 'No.', code: 'new_one' }), { code: 'internal' })
  const nobody = createClient({ url: 'http://127.0.0.1:2' }, ending.signal)
  await t.rejects(nobody.request('GET', '/cases'), { code: 'stopping' })
})

t.test('the last bytes of a text that may not exist yet', async (t) => {
  const ref = await planned(app, { runbook: step('true') })
  mkdirSync(app.file(ref.case_id, 'artifacts'))
  writeFileSync(app.file(ref.case_id, 'artifacts', '1-say.log'), 'one\ntwo\n')
  const path = `${ref.path}/artifacts/1-say.log`
  const read = await client.lastBytes(path, 4)
  t.match([read?.from, Buffer.from(read!.bytes).toString()], [4, 'two\n'])
  truncateSync(app.file(ref.case_id, 'artifacts', '1-say.log'))
  t.equal(await client.lastBytes(path, 4), null, 'it is empty')
  t.equal(await client.lastBytes(`${ref.path}/artifacts/1-none.log`, 4), null)
})

t.test('a change of a memory file loses nothing of another writer', async (t) => {
  const { id } = await app.newCase()
  const path = `/cases/${id}/memory/notes.md`
  const add = (line: string) =>
    changeMemory(client, path, (present) => withParagraphs(present ?? '', [line]))
  await Promise.all(['a', 'b', 'c'].map(add))
  let isFirst = true
  await changeMemory(client, path, (present) => {
    if (isFirst) writeFileSync(app.file(id, 'notes.md'), `${present}by hand\r\n`)
    isFirst = false
    return withParagraphs(present!, ['d'])
  })
  const { text } = await app.request('GET', path)
  for (const line of ['a', 'b', 'c', 'by hand', 'd']) t.match(text, RegExp(`^${line}\r?$`, 'm'))
  t.match(text, /by hand\r\n\r\nd\r\n$/, 'with the line ends of the file')
  t.equal(withParagraphs('x', ['y']), 'x\n\ny\n')
  t.equal(withParagraphs('x\n\n', ['y', 'z']), 'x\n\ny\n\nz\n')
  writeFileSync(app.file(id, 'notes.md'), Buffer.from([0x61, 0x0a, 0xff]))
  await t.rejects(add('e'), { code: 'bad_request', message: /line 2/ })
})

/** Answers each request with the next of these: a status, the text of a stream, or no connection. */
function scripted(answers: (number | string | null)[]) {
  const asked: (string | undefined)[] = []
  async function send(_address: string, { headers }: HttpRequest): Promise<HttpResponse> {
    asked.push(headers?.['last-event-id'])
    const answer = answers.shift()
    if (answer === null || answer === undefined) throw new ConnectionLost('gone')
    const text = typeof answer === 'string' ? answer : '{"detail": "No.", "code": "not_found"}'
    return {
      status: typeof answer === 'string' ? 200 : answer,
      header: () => null,
      bytes: async () => Buffer.from(text),
      text: async () => text,
      async *parts() {
        yield text
      },
      end() {},
    }
  }
  return { asked, send }
}

const event = (type: string, id = '') =>
  `event: ${type}\n${id && `id: ${id}\n`}data: {"timestamp": "", "payload": {}}\n\n`

t.test('a stream goes on where it was, over restarts, until no more will come', async (t) => {
  const first = event('a', '1') + event('ping') + event('session_output') + event('b', '2')
  const { asked, send } = scripted([first, 503, null, event('resync') + event('a', '1'), '', 204])
  const where = { url: 'http://x', send }
  const seen: string[] = []
  const told: string[] = []
  const options = {
    pausesMs: [0],
    onGone: () => told.push('gone'),
    onBack: () => told.push('back'),
  }
  for await (const { type, id } of createClient(where, ending.signal).stream('/s', options))
    seen.push(type + id)
  t.strictSame(seen, ['a1', 'session_output', 'b2', 'resync', 'a1'])
  t.strictSame(asked, [undefined, '2', '2', '2', '1', '1'])
  t.strictSame(told, ['gone', 'back'])

  const open = (answers: (number | null)[], giveUpMs?: number) =>
    createClient({ url: 'http://x', ...scripted(answers) }, ending.signal)
      .stream('/s', { pausesMs: [0], ...(giveUpMs === undefined ? {} : { giveUpMs }) })
      .next()
  await t.rejects(open([404]), { code: 'not_found' })
  await t.rejects(open([null, null], -1), { code: 'stopping' })
})

t.test('a line of the trail comes once, also if the stream broke in its middle', async (t) => {
  const line = event('a') + event('b') + event('c', '2')
  const { asked, send } = scripted([event('created', '1') + event('a'), line, 204])
  const all = createClient({ url: 'http://x', send }, ending.signal).stream('/s', { pausesMs: [0] })
  const seen: string[] = []
  for await (const { type } of all) seen.push(type)
  t.strictSame(seen, ['created', 'a', 'b', 'c'])
  t.strictSame(asked, [undefined, '1', '2'])
})

t.test('after a resync that breaks off, a stream begins again', async (t) => {
  const { asked, send } = scripted([event('a', '7') + event('resync'), event('a', '1'), 204])
  const all = createClient({ url: 'http://x', send }, ending.signal).stream('/s', { pausesMs: [0] })
  for await (const _ of all);
  t.strictSame(asked, [undefined, undefined, '1'])
})
