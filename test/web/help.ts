import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { HELP_TOPICS } from '../../src/web/shell/help-link.tsx'
import { inLongLane, isLong } from '../fixtures/full.ts'
import { openTestService } from '../fixtures/workspace.ts'

const app = await openTestService(t)
const DOCS = fileURLToPath(new URL('../../docs', import.meta.url))
const NAMES = readdirSync(DOCS)
  .filter((name) => name.endsWith('.md') && name !== 'README.md')
  .map((name) => name.slice(0, -'.md'.length))

async function get(path: string): Promise<string> {
  const reply = await app.request('GET', path, undefined, { accept: 'text/html' })
  t.equal(reply.status, 200, `${path}: ${reply.text.slice(0, 200)}`)
  return reply.text
}

t.test('the overview leads to every page of the docs', async (t) => {
  const html = await get('/help')
  for (const name of NAMES) t.match(html, `href="/help/${name}"`)
})

t.test(
  'the API has a page, with a section for each group that names every operation',
  async (t) => {
    const { json: api } = await app.request('GET', '/openapi.json')
    const { status, headers } = await app.request('GET', '/docs')
    t.strictSame([status, headers.location], [302, '/help/requests'])
    const html = await get('/help/requests')
    for (const { name } of api.tags) t.match(html, new RegExp(`<h2[^>]*>${name}</h2>`))
    for (const methods of Object.values<Record<string, { operationId: string }>>(api.paths)) {
      for (const { operationId } of Object.values(methods))
        t.match(html, `<code>${operationId}</code>`)
    }
    t.match(html, '<a href="/openapi.json">')
    t.match(await get('/help'), 'href="/help/requests"')
  },
)

t.test('the questions stand under their sections', async (t) => {
  const html = await get('/help')
  t.match(
    html,
    /<h3>Agents<\/h3><ul class="plain-list"><li><a href="\/help\/problems#text-the-agent-is-not-found">/,
  )
  t.notMatch(html, 'href="/help/problems#text-agents"')
})

t.test('every page is there, and its links and pictures lead somewhere', inLongLane, async (t) => {
  const texts = new Map(
    await Promise.all(
      ['readme', 'contributing', 'requests', ...(isLong ? NAMES : NAMES.slice(0, 6))].map(
        async (name) => {
          const path = `/help/${name}`
          return [path, await get(path)] as const
        },
      ),
    ),
  )
  texts.set('/help', await get('/help'))
  for (const [path, html] of texts) {
    const text = /<main.*<\/main>/s.exec(html)?.[0] ?? ''
    for (const [, href = ''] of text.matchAll(/<a href="([/#][^"]*)"/g)) {
      const [page, anchor] = href.split('#') as [string, string?]
      const target = page === '' ? html : texts.get(page)
      if (isLong && page.startsWith('/help')) t.ok(target, `${path} leads to ${page}`)
      // the overview has the list of docs/README.md, and not its other words
      if (target && anchor && page !== '/help')
        t.match(target, `id="${anchor}"`, `${path} leads to ${href}`)
    }
    for (const [, src = ''] of text.matchAll(/<img src="([^"]*)"/g)) {
      const { status, headers } = await app.request('GET', src.replaceAll('&amp;', '&'))
      t.equal(status, 200, `${path} shows ${src}`)
      t.match(headers['content-type'], /^image\/(?:png|svg\+xml)$/)
    }
    t.notMatch(text, /class="raw-html"/, `${path} has no HTML that is shown as text`)
  }
})

t.test('what is no page of the docs is not found', async (t) => {
  const paths = [
    'nothing',
    'README.md',
    'constructor',
    '..%2Fpackage.json',
    '..%2F..%2Fpackage',
    '%2e%2e/package.json',
    'images/nothing.png',
    'images/take.mjs',
    'images/..%2Fapi.md',
    'images/%2e%2e%2f%2e%2e%2fpackage.json',
  ]
  for (const path of paths) {
    const { status } = await app.request('GET', `/help/${path}`)
    t.equal(status, 404, path)
  }
})

t.test('what pages link to from their question marks is there', async (t) => {
  for (const { page, anchor } of Object.values(HELP_TOPICS))
    t.match(await get(`/help/${page}`), `id="text-${anchor}"`)
})
