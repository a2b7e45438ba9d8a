import t from 'tap'
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
  t.match(page.text, 'There is no GET /nothing/here.')
  t.match(page.text, /<h1>Page not found<\/h1>.*All cases.*Search.*Docs/s)
  t.match(page.headers['content-security-policy'], "default-src 'none'")
  const json = await app.request('GET', '/nothing/here')
  t.equal(json.status, 404)
  t.match(json.json, { code: 'not_found' })
})
