import t from 'tap'
import { openTestService } from '../fixtures/workspace.ts'

const { url, request, newCase } = await openTestService(t)

const PAGE = { accept: 'text/html' }

t.test('a service worker of an earlier program gets one that removes itself', async (t) => {
  for (const path of ['/sw.js', '/cases', '/any/where']) {
    const reply = await fetch(url + path, { headers: { 'service-worker': 'script' } })
    t.equal(reply.status, 200, path)
    t.match(reply.headers.get('content-type'), /^text\/javascript/)
    t.equal(reply.headers.get('cache-control'), 'no-store')
    const script = await reply.text()
    t.match(script, 'registration.unregister()')
    t.notMatch(script, 'fetch', 'it answers nothing itself')
  }
})

t.test('the first page clears what an earlier program left, and no later one', async (t) => {
  const cleared = async (path: string, headers: Record<string, string>) => {
    const { headers: sent } = await request('GET', path, undefined, headers)
    return [sent['clear-site-data'], String(sent['set-cookie']).split(';')[0]]
  }
  const [data, cookie] = await cleared('/', PAGE)
  t.equal(data, '"cache", "storage"')
  t.strictSame(await cleared('/', { ...PAGE, cookie: `a=b; ${cookie}` }), [undefined, 'undefined'])
  const other = { ...PAGE, cookie: 'casefile-1=cleared' }
  t.match(await cleared('/', other), [data, cookie], 'of another port')
  const forwarded = { ...PAGE, cookie: String(cookie), host: 'localhost:9000' }
  t.match(await cleared('/', forwarded), [data, 'casefile-9000=cleared'], 'of a forwarded port')
  t.strictSame(await cleared('/cases', { accept: 'application/json' }), [undefined, 'undefined'])
})

t.test(
  'a person who opens a resource gets its page, and a script or a frame its JSON',
  async (t) => {
    const path = `/cases/${(await newCase()).id}`
    const opened = (headers: object) =>
      request('GET', path, undefined, { accept: 'text/html, */*;q=0.8', ...headers })
    for (const headers of [{}, { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }]) {
      const { status, headers: sent } = await opened(headers)
      t.match([status, sent.location], [302, path.replace('cases', 'case')])
    }
    for (const headers of [
      { 'sec-fetch-mode': 'cors' },
      { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      { accept: 'application/json, text/html;q=0.5' },
    ])
      t.match((await opened(headers)).headers, { 'content-type': 'application/json' })
  },
)
