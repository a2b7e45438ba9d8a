import { randomUUID } from 'node:crypto'
import t from 'tap'
import { must, planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const app = await openTestService(t)
const OPENED = {
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
}
const FOREIGN = { ...OPENED, 'sec-fetch-site': 'cross-site' }

t.test('who follows a link from another site reads why it is refused', async (t) => {
  const reply = await app.request('GET', '//evil.example/<b>?q="x', undefined, FOREIGN)
  t.equal(reply.status, 403)
  t.match(reply.headers['content-type'], /^text\/html/)
  t.match(reply.headers['content-security-policy'], "frame-ancestors 'none'")
  t.match(reply.headers['x-content-type-options'], 'nosniff')
  t.match(reply.text, `<a href="${app.url}//evil.example/`, 'an address of this service alone')
  t.notMatch(reply.text, '<b>')
  t.notMatch(reply.headers, { 'access-control-allow-origin': /./ })
})

const NO_PAGE: Record<string, Record<string, string>> = {
  'a script': { ...FOREIGN, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
  'a frame': { ...FOREIGN, 'sec-fetch-dest': 'iframe' },
  'who does not take HTML': { ...FOREIGN, accept: '*/*' },
  'a Host that is not ours': { ...FOREIGN, host: 'evil.example' },
}
for (const [who, headers] of Object.entries(NO_PAGE))
  t.test(`${who}: the bare refusal, as ever`, async (t) => {
    const reply = await app.request('GET', '/', undefined, headers)
    t.equal(reply.status, 403)
    t.equal(reply.headers['content-type'], 'application/problem+json')
  })

t.test('an address that there is not, opened in a browser', async (t) => {
  const headers = { ...OPENED, 'sec-fetch-site': 'none' }
  const page = await app.request('GET', '/nothing/here', undefined, headers)
  t.equal(page.status, 404)
  t.match(page.headers['content-type'], /^text\/html/)
  t.match(page.text, 'There is no page at /nothing/here.')
  t.match(page.text, /<h1>Page not found<\/h1>.*All cases.*Search.*Help/s)
  t.match(page.headers['content-security-policy'], "default-src 'none'")
  const json = await app.request('GET', '/nothing/here')
  t.equal(json.status, 404)
  t.match(json.json, { code: 'not_found' })
})

t.test(
  'the same rule for every address: a browser gets a page, a program problem+json',
  async (t) => {
    const asked: [who: string, headers: Record<string, string>, type: RegExp][] = [
      ['a browser', OPENED, /^text\/html/],
      ['a text browser', { accept: 'text/html, text/plain, */*;q=0.01' }, /^text\/html/],
      ['curl', { accept: '*/*' }, /^application\/problem\+json/],
      ['a script', { ...OPENED, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }, /problem/],
      ['a frame', { ...OPENED, 'sec-fetch-dest': 'iframe' }, /problem/],
      ['who prefers JSON', { accept: 'application/json, text/html;q=0.9' }, /problem/],
    ]
    for (const path of [
      '/nothing',
      '/cases/x',
      '/case/x',
      `/case/${randomUUID()}`,
      '/cases?limit=x',
    ])
      for (const [who, headers, type] of asked) {
        const reply = await app.request('GET', path, undefined, headers)
        t.match(reply.headers['content-type'], type, `${who}: ${path}`)
        t.match(reply.headers.vary, /accept, sec-fetch-mode, sec-fetch-dest/)
      }
    const sent = await app.request('POST', '/cases', {}, OPENED)
    t.equal(sent.status, 400)
    t.match(sent.headers['content-type'], /problem/, 'what is not read gets JSON')
    const wrong = await app.request('GET', '/cases/x/answer', undefined, OPENED)
    t.equal(wrong.status, 405)
    t.match(wrong.headers['content-type'], /^text\/html/)
    t.equal(wrong.headers.allow, 'POST')
  },
)

t.test('a resource that has a page leads a browser there', async (t) => {
  const ref = await planned(app, { runbook: step('true') })
  const of = `/cases/${ref.case_id}`
  const proof = await must(app, 'POST', `${of}/proof`, { type: 'log', content: 'x' })
  const pages: [path: string, page: string][] = [
    [of, `/case/${ref.case_id}`],
    [`${of}/sessions/${ref.id}`, `/case/${ref.case_id}/session/${ref.id}`],
    [`${of}/proof/${proof.id}`, `/case/${ref.case_id}/proof/${proof.id}`],
  ]
  for (const [path, page] of pages) {
    for (const method of ['GET', 'HEAD']) {
      const opened = await app.request(method, path, undefined, OPENED)
      t.equal(opened.status, 302, `${method} ${path}`)
      t.equal(opened.headers.location, page)
      t.match(opened.headers.vary, /accept/)
    }
    const read = await app.request('GET', path)
    t.equal(read.status, 200)
    t.equal(read.headers['content-type'], 'application/json')
    t.match(read.headers.vary, /accept/)
    t.equal(read.json.id, path.split('/').at(-1))
  }
  const session = await app.request('GET', pages[1]![1], undefined, OPENED)
  t.equal(session.headers.location, `/case/${ref.case_id}/session/1`)
  const gate = await app.request('GET', `${of}/gate`, undefined, OPENED)
  t.equal(gate.status, 200, 'what has no page is shown as it is')
})
