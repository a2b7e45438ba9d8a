import t from 'tap'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

/** What a page says, row by row: `2 need you`, `Blocked | A title | Planning`. */
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

  await t.test('a workspace without cases says how to begin', async (t) => {
    const html = await get(app, '/')
    t.match(html, /Set up Casefile/)
    t.match(html, /id="first-title"/)
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

  t.test(
    'what waits for the operator is first, then what is open, then what is done',
    async (t) => {
      t.strictSame(outline(await get(app, '/')), [
        'Blocked 1',
        'No key to sign with',
        'Open 3',
        'Move to Node 22 | Planning',
        '<script>alert(1)</script> & "more"',
        'Exports are slow',
        'Done 1',
        'Names were cut | Non issue · Intended behavior',
      ])
    },
  )

  t.test('the reason stands beside the title, and the title of the page counts', async (t) => {
    const html = await get(app, '/')
    t.match(html, /class="row-reason">operations must say where it is</)
    t.match(html, /<title>Cases · [^<]+ · Casefile<\/title>/)
    t.match(html, /<time datetime="[^"]+" title="[^"]+" data-as="waiting">waiting since /)
  })

  t.test('header and tab count the same: also what is to verify', async (t) => {
    const service = await openTestService(t)
    const { id } = await service.newCase({ title: 'Blocked' })
    await service.request('PUT', `/cases/${id}/state`, { state: 'BLOCKED' })
    const { id: asked } = await service.newCase({ title: 'Asked' })
    await service.request('PUT', `/cases/${asked}/state`, { state: 'NEEDS_USER_INPUT' })
    const { id: other } = await service.newCase({ title: 'Nearly done' })
    await service.request('POST', `/cases/${other}/proof`, { type: 'log', content: 'seen' })
    const html = await get(service, '/')
    t.match(html, /<title>\(2\) Cases/)
    t.match(html, /id="waiting-count" data-count="2" title="2 need you"/)
    t.strictSame(outline(html), [
      '2 need you',
      'Question | Asked',
      'Proof | Nearly done | Open',
      'Blocked 1',
      'Blocked',
    ])
    const any = await service.request('GET', '/triage?needs=any&limit=1')
    t.equal(any.headers['x-total-count'], '2')
    t.match(html, 'data-key-name="Cases"')
  })

  t.test('words are searched in one place', async (t) => {
    const { status, headers } = await app.request('GET', '/?q=%3Cscript%3E+a&tag=export')
    t.strictSame([status, headers.location], [302, '/find?q=%3Cscript%3E+a&tag=export'])
    t.notMatch(await get(app, '/'), /type="search"|name="q"/)
  })

  const filters: { query: string; titles: string[] }[] = [
    { query: 'state=PLANNING,BLOCKED', titles: ['No key to sign with', 'Move to Node 22'] },
    { query: 'needs=any', titles: [] },
    { query: 'group=blocked,done', titles: ['No key to sign with', 'Names were cut'] },
    { query: 'type=chore', titles: ['Move to Node 22'] },
    { query: 'tag=export&type=bug', titles: ['No key to sign with', 'Exports are slow'] },
    { query: 'outcome=IntendedBehavior', titles: ['Names were cut'] },
    { query: 'needs=failed,blocked', titles: ['No key to sign with'] },
    { query: 'group=open&tag=export', titles: ['Exports are slow'] },
    { query: 'q=&type=&tag=chor', titles: [] },
  ]
  for (const { query, titles } of filters) {
    t.test(`?${query} shows ${titles.join(', ') || 'nothing, and says so'}`, async (t) => {
      const html = await get(app, `/?${query}`)
      t.strictSame(titlesOf(html), titles)
      t.match(html, `${titles.length} of 5 cases`)
      t.match(html, /Clear filters/)
      if (titles.length === 0) t.match(html, /No matches/)
    })
  }

  t.test('no row says its group, its reason or its type twice', async (t) => {
    const asking = await openTestService(t)
    const { id } = await asking.newCase({ title: 'Twice', type: 'bug', tags: ['Bug', 'auth'] })
    await asking.request('PUT', `/cases/${id}/state`, { state: 'BLOCKED', reason: 'no key' })
    const row = /<li class="case-row".*?<\/li>/s.exec(await get(asking, '/'))?.[0] ?? ''
    const words = row.replace(/<[^>]*>/g, '\n').match(/\S.*/g)!
    const time = words.find((word) => / UTC$/.test(word))
    t.strictSame(words, ['Twice', 'no key', 'auth', 'bug', time])
  })

  t.test('chips count what they would show beside the other filters', async (t) => {
    t.strictSame(chipsOf(await get(app, '/?type=bug')), [
      '* All 3 → /?type=bug',
      'Blocked 1 → /?group=blocked&type=bug',
      'Open 1 → /?group=open&type=bug',
      'Done 1 → /?group=done&type=bug',
    ])
    const chips = chipsOf(await get(app, '/?group=open'))
    t.ok(chips.includes('* Open 3 → /?group=open'), chips.join('\n'))
    t.ok(chips.includes('Done 1 → /?group=done'), chips.join('\n'))
  })

  t.test('the fields hold what is asked for, even a word that no case has', async (t) => {
    const html = await get(app, '/?type=unheard-of&state=OPEN,BLOCKED&needs=blocked&group=open')
    t.match(html, /<option value="unheard-of" selected="">/)
    t.match(html, /<option value="OPEN,BLOCKED" selected="">Open, Blocked</)
    t.match(html, /<input type="hidden" name="group" value="open"/)
    t.match(html, /<input type="hidden" name="needs" value="blocked"/)
  })

  t.test('the browser may send the form of the filters, and no other', async (t) => {
    const policy = async (path: string) =>
      (await app.request('GET', path)).headers['content-security-policy']
    t.match(await policy('/'), "form-action 'self'")
    t.match(await policy('/new'), "form-action 'none'")
  })

  t.test('the form of a new case knows the types, the providers and the parent', async (t) => {
    const html = await get(app, `/new?parent=${ids.planned}`)
    t.match(html, /data-send="POST" action="\/cases" data-then="\/case\/\{id\}"/)
    for (const type of ['bug', 'chore', 'question', 'refactor'])
      t.match(html, `<option value="${type}">`)
    t.match(html, '<option value="runbook">Runbook: Casefile runs the steps itself</option>')
    t.match(html, `<option value="${ids.planned}" selected="">Move to Node 22</option>`)
    t.notMatch(html, `<option value="${ids.done}"`, 'a case that is done is no parent')
    t.match(html, '<option value="worktree">in a separate git worktree</option>')
    t.notMatch(await get(app, '/new?parent=nonsense'), 'nonsense')
  })
})

t.test('a long list comes in pages', async (t) => {
  const app = await openTestService(t, { files: manyCases(250) })

  t.test('each with an address, and links to its neighbours', async (t) => {
    const pages = await Promise.all(['/', '/?page=2', '/?page=3'].map((path) => get(app, path)))
    t.strictSame(
      pages.map((html) => titlesOf(html).length),
      [100, 100, 50],
    )
    t.equal(new Set(pages.flatMap(titlesOf)).size, 250, 'every case is on one of them')
    t.strictSame(pages.map(linksOf), [
      ['Next page /?page=2'],
      ['Previous /', 'Next page /?page=3'],
      ['Previous /?page=2'],
    ])
    t.match(pages[1], '101–200 of 250 · page 2 of 3')
    t.strictSame(outline(pages[1]!)[0], 'Open 250', 'the heading counts all of the group')
  })

  t.test('filters stay, and start at the first page', async (t) => {
    const html = await get(app, '/?type=bug&page=2')
    t.strictSame(linksOf(html), ['Previous /?type=bug', 'Next page /?type=bug&page=3'])
    t.ok(chipsOf(html).includes('Open 250 → /?group=open&type=bug'))
  })

  t.test('a whole number of pages has no empty one at its end', async (t) => {
    const second = await get(app, '/?tag=two-hundred&page=2')
    t.match(second, '101–200 of 200 · page 2 of 2')
    t.strictSame(linksOf(second), ['Previous /?tag=two-hundred'])
    t.match(await get(app, '/?tag=two-hundred&page=3'), 'page 2 of 2')
  })
})

function linksOf(html: string): string[] {
  const links = html.matchAll(
    /<a class="button" href="([^"]*)" rel="(?:prev|next)"[^>]*>(.*?)<\/a>/gs,
  )
  return [...links].map(([, href, text]) => `${textOf(text!)} ${textOf(href!)}`)
}

function titlesOf(html: string): string[] {
  return [...html.matchAll(/class="row-title"[^>]*>(.*?)<\/a>/gs)].map(([, title]) =>
    textOf(title!),
  )
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
      `tags: [${index < 100 ? 'hundred, ' : ''}${index < 200 ? 'two-hundred' : 'rest'}]`,
      '---',
      '',
    ]
    return [id, { 'case.md': lines.join('\n') }] as const
  })
  return { memory: { cases: Object.fromEntries(cases) } }
}
