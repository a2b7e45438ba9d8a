import t from 'tap'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

/** What a page says, row by row: `Needs you 2`, `Stuck | A title | Blocked`. */
function outline(html: string): string[] {
  const parts = html.matchAll(/<h2 id="heading-[^>]*>(.*?)<\/h2>|<li class="case-row"(.*?)<\/li>/gs)
  return [...parts].map(([, heading, row = '']) => {
    if (heading !== undefined) return textOf(heading)
    const cell = (name: string) =>
      textOf(new RegExp(`class="row-${name}"[^>]*>(.*?)</(?:span|a)>`, 's').exec(row)?.[1] ?? '')
    return [cell('why'), cell('title'), cell('state')].filter((text) => text !== '').join(' | ')
  })
}

function textOf(html: string): string {
  const text = html.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ')
  return text.trim().replace(/&(lt|gt|amp|quot|#39);/g, (_, name: string) => SIGNS[name]!)
}
const SIGNS: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" }

function chipsOf(html: string): string[] {
  const chips = html.matchAll(/<a class="chip" href="([^"]*)"([^>]*)>(.*?)<\/a>/gs)
  return [...chips].map(([, href, rest, text]) => {
    const mark = rest!.includes('aria-current="true"') ? '* ' : ''
    return `${mark}${textOf(text!)} → ${textOf(href!)}`
  })
}

async function get(app: TestService, path: string): Promise<string> {
  const reply = await app.request('GET', path, undefined, { accept: 'text/html' })
  t.equal(reply.status, 200, `${path}: ${reply.text.slice(0, 300)}`)
  t.match(reply.headers['content-type'], /^text\/html/)
  return reply.text
}

t.test('a few cases', async (t) => {
  const app = await openTestService(t)
  const made = async (title: string, fields: object, state: object = {}) => {
    const { id } = await app.newCase({ title, ...fields })
    if ('state' in state) {
      const reply = await app.request('PUT', `/cases/${id}/state`, state)
      t.equal(reply.status, 200, reply.text)
    }
    return id as string
  }

  t.test('a workspace without cases says how to begin', async (t) => {
    const html = await get(app, '/')
    t.match(html, /No case yet/)
    t.match(html, /href="\/new"/)
    t.match(html, /casefile demo/)
    t.notMatch(html, /id="filters"/)
  })

  const ids = {
    old: await made('Exports are slow', { type: 'bug', tags: ['export'] }),
    planned: await made('Move to Node 22', { type: 'chore' }, { state: 'PLANNING' }),
    blocked: await made(
      'No key to sign with',
      { type: 'bug', tags: ['auth', 'export'], description: 'Nobody knows where the *vault* is.' },
      { state: 'BLOCKED', reason: 'operations must say where it is' },
    ),
    hostile: await made('<script>alert(1)</script> & "more"', { type: 'question' }),
    done: await made('Names were cut', {}, { state: 'NON_ISSUE', outcome: 'IntendedBehavior' }),
  }

  t.test('what needs the operator is first, then what is open, then what is closed', async (t) => {
    t.strictSame(outline(await get(app, '/')), [
      'Needs you 1',
      'Stuck | No key to sign with | Blocked',
      'In hand 3',
      'Move to Node 22 | Planning',
      '<script>alert(1)</script> & "more" | Open',
      'Exports are slow | Open',
      'Closed 1',
      'Names were cut | Non issue',
    ])
  })

  t.test('the reason stands beside the title, and the title of the page counts', async (t) => {
    const html = await get(app, '/')
    t.match(html, /class="row-reason">operations must say where it is</)
    t.match(html, '<title>(1) Cases · Casefile</title>')
  })

  t.test('a question to the operator is no obstacle', async (t) => {
    const asking = await openTestService(t)
    const { id } = await asking.newCase({ title: 'Which vault?' })
    const state = { state: 'NEEDS_USER_INPUT', reason: 'the old or the new one?' }
    await asking.request('PUT', `/cases/${id}/state`, state)
    const html = await get(asking, '/')
    t.match(outline(html), ['Needs you 1', 'Question | Which vault? | Needs your input'])
    t.match(html, /class="row-reason">the old or the new one\?</)
  })

  t.test('a hostile title is text, here and as a search', async (t) => {
    const title = '<script>alert(1)</script>'
    const html = await get(app, `/?q=${encodeURIComponent(title)}`)
    t.notMatch(html, title)
    t.match(html, 'value="&lt;script&gt;alert(1)&lt;/script&gt;"')
    t.match(html, `href="/case/${ids.hostile}"`)
    t.strictSame(outline(html).length, 2)
  })

  const filters: { query: string; titles: string[] }[] = [
    { query: 'state=PLANNING,BLOCKED', titles: ['No key to sign with', 'Move to Node 22'] },
    { query: 'needs=any', titles: ['No key to sign with'] },
    { query: 'needs=plan', titles: [] },
    { query: 'type=chore', titles: ['Move to Node 22'] },
    { query: 'tag=export&type=bug', titles: ['No key to sign with', 'Exports are slow'] },
    { query: 'outcome=IntendedBehavior', titles: ['Names were cut'] },
    { query: 'q=VAULT', titles: ['No key to sign with'] },
    { query: 'q=vault++key', titles: ['No key to sign with'] },
    { query: 'q=vault+slow', titles: [] },
    { query: 'q=&type=&tag=chor', titles: [] },
  ]
  for (const { query, titles } of filters) {
    t.test(`?${query} shows ${titles.join(', ') || 'nothing, and says so'}`, async (t) => {
      const html = await get(app, `/?${query}`)
      t.strictSame(titlesOf(html), titles)
      t.match(html, `${titles.length} of 5 cases`)
      t.match(html, /Clear filters/)
      if (titles.length === 0) t.match(html, /No case fits/)
    })
  }

  t.test('a tag in a row leads to the cases that have it', async (t) => {
    const html = await get(app, '/?q=slow')
    t.match(html, /<a class="tag" href="\/\?tag=export"[^>]*>export<\/a>/)
  })

  t.test('blanks are no search', async (t) => {
    t.notMatch(await get(app, '/?q=%20%20'), /Clear filters/)
  })

  t.test('no reason, group or chip is called as a state that means another thing', async (t) => {
    const html = await get(app, '/')
    const names = [...chipsOf(html), ...outline(html).filter((line) => !line.includes('|'))]
    const words = names.map((line) => line.replace(/^\* | \d+( →.*)?$/g, ''))
    t.strictSame(
      words.filter((word, at) => words.indexOf(word) !== at),
      ['Needs you'],
    )
  })

  t.test('chips count what they would show beside the other filters', async (t) => {
    t.strictSame(chipsOf(await get(app, '/?type=bug')), [
      '* All 3 → /?type=bug',
      'Needs you 1 → /?needs=any&type=bug',
      'Stuck 1 → /?needs=blocked&type=bug',
      'Open 1 → /?state=OPEN&type=bug',
      'Blocked 1 → /?state=BLOCKED&type=bug',
      'Non issue 1 → /?state=NON_ISSUE&type=bug',
    ])
  })

  t.test('a chosen state is marked, and its link takes it out again', async (t) => {
    const chips = chipsOf(await get(app, '/?state=OPEN,PLANNING'))
    t.ok(chips.includes('* Open 2 → /?state=PLANNING'), chips.join('\n'))
    t.ok(chips.includes('* Planning 1 → /?state=OPEN'), chips.join('\n'))
    t.ok(chips.includes('Blocked 1 → /?state=OPEN,PLANNING,BLOCKED'), chips.join('\n'))
  })

  t.test('the fields hold what is asked for, even a word that no case has', async (t) => {
    const html = await get(app, '/?type=unheard-of&state=OPEN&needs=blocked')
    t.match(html, /<option value="unheard-of" selected="">/)
    t.match(html, /<input type="hidden" name="state" value="OPEN"/)
    t.match(html, /<input type="hidden" name="needs" value="blocked"/)
  })

  t.test('what cannot be asked for is refused as a page', async (t) => {
    for (const query of ['state=LOST', 'needs=love']) {
      const reply = await app.request('GET', `/?${query}`, undefined, { accept: 'text/html' })
      t.equal(reply.status, 400, query)
      t.match(reply.headers['content-type'], /^text\/html/)
    }
  })

  t.test('the browser may send the form of the filters, and no other', async (t) => {
    const policy = async (path: string) =>
      (await app.request('GET', path)).headers['content-security-policy']
    t.match(await policy('/'), "form-action 'self'")
    t.match(await policy('/new'), "form-action 'none'")
  })

  t.test('a list that did not change costs no bytes', async (t) => {
    const { etag } = (await app.request('GET', '/')).headers
    const again = await app.request('GET', '/', undefined, { 'if-none-match': etag! })
    t.equal(again.status, 304)
  })

  t.test('the form of a new case knows the types, the providers and the parent', async (t) => {
    const html = await get(app, `/new?parent=${ids.planned}`)
    t.match(html, /data-send="POST" action="\/cases" data-then="\/case\/\{id\}"/)
    for (const type of ['bug', 'chore', 'question', 'refactor'])
      t.match(html, `<option value="${type}">`)
    t.match(html, '<option value="runbook">runbook</option>')
    t.match(html, `name="parent" value="${ids.planned}"`)
    t.match(html, 'Part of: Move to Node 22')
    t.notMatch(await get(app, '/new?parent=nonsense'), 'nonsense')
  })
})

t.test('a long list comes in chunks', async (t) => {
  const app = await openTestService(t, { files: manyCases(250) })

  t.test('the first hundred have their rows, the others keep the place', async (t) => {
    const html = await get(app, '/')
    t.strictSame(chunksOf(html), ['open-0 100/100', 'open-100 0/100', 'open-200 0/50'])
    t.match(html, '<a href="/?from=100" rel="next">Next cases</a>')
  })

  t.test('without the script, the next hundred have an address', async (t) => {
    const html = await get(app, '/?from=100&type=bug')
    t.strictSame(chunksOf(html), ['open-0 0/100', 'open-100 100/100', 'open-200 0/50'])
    t.match(html, '<a href="/?type=bug&amp;from=200" rel="next">')
    t.match(html, '101 to 200 of 250')
    t.notMatch(await get(app, '/?from=200'), /rel="next"/)
  })

  t.test('the script asks for those that are near', async (t) => {
    const html = await get(app, '/?show=open-100,open-200,nonsense')
    t.strictSame(chunksOf(html), ['open-0 0/100', 'open-100 100/100', 'open-200 50/50'])
    const none = await get(app, '/?show=closed-0&from=nonsense')
    t.strictSame(chunksOf(none)[0], 'open-0 100/100', 'else the first')
  })

  t.test('or for one alone, which says of which order it is', async (t) => {
    const [page, chunk] = [await get(app, '/'), await get(app, '/?chunk=open-200')]
    t.match(chunk, /^(<!doctype html>)?<ul class="chunk" id="open-200"/)
    t.strictSame(chunksOf(chunk), ['open-200 50/50'])
    t.equal(orderOf(chunk), orderOf(page))
    t.strictSame([...titlesOf(page), ...titlesOf(await get(app, '/?chunk=open-100'))].length, 200)
    const seen = new Set(
      (await Promise.all([0, 100, 200].map((from) => get(app, `/?chunk=open-${from}`)))).flatMap(
        titlesOf,
      ),
    )
    t.equal(seen.size, 250, 'every case is in one of them')
  })

  t.test('the order changes when a case moves, and a chunk that is no more is empty', async (t) => {
    const before = orderOf(await get(app, '/'))
    await app.newCase({ title: 'One more' })
    const after = await get(app, '/?chunk=open-200')
    t.not(orderOf(after), before)
    t.strictSame(chunksOf(after), ['open-200 51/51'])
    t.strictSame(chunksOf(await get(app, '/?chunk=open-900')), ['open-900 0/0'])
  })
})

function titlesOf(html: string): string[] {
  return [...html.matchAll(/class="row-title"[^>]*>(.*?)<\/a>/gs)].map(([, title]) =>
    textOf(title!),
  )
}

function chunksOf(html: string): string[] {
  const chunks = html.matchAll(
    /<ul class="chunk" id="([^"]*)" data-count="(\d+)"[^>]*>(.*?)<\/ul>/gs,
  )
  return [...chunks].map(([, id, count, rows]) => `${id} ${titlesOf(rows!).length}/${count}`)
}

function orderOf(html: string): string | undefined {
  return /data-order="([^"]*)"/.exec(html)?.[1]
}

function manyCases(count: number) {
  const cases = Array.from({ length: count }, (_, index) => {
    const id = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
    const lines = [
      '---',
      `id: ${id}`,
      `title: Case ${index}`,
      'created_at: 2026-11-01T10:00:00.000Z',
      'state: OPEN',
      'type: bug',
      'outcome:',
      'tags: []',
      '---',
      '',
    ]
    return [id, { 'case.md': lines.join('\n') }] as const
  })
  return { memory: { cases: Object.fromEntries(cases) } }
}
