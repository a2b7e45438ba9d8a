import t from 'tap'
import { openTestService } from '../fixtures/workspace.ts'

t.test('the page of the full text search', async (t) => {
  const app = await openTestService(t)
  const page = async (path: string, status = 200) => {
    const reply = await app.request('GET', path, undefined, { accept: 'text/html' })
    t.equal(reply.status, status, `${path}: ${reply.text.slice(0, 300)}`)
    return reply.text
  }
  t.notMatch(await page('/'), 'id="search"', 'without a case there is nothing to search')

  const slow = await app.newCase({
    title: 'Exports <b>are</b> slow',

    type: 'bug',
    tags: ['export'],
    description: 'The vault waits.\n\nFor a <i>lock</i>, and a lock.',
  })
  const other = await app.newCase({ title: 'Another vault' })
  await app.request(
    'PUT',
    `/cases/${slow.id}/memory/notes.md`,
    'first\n\nthe lock \u202e is held\n',
  )
  await app.request('PUT', `/cases/${other.id}/state`, { state: 'BLOCKED' })

  t.test(
    'the API, its page and the words of the list have the same cases in the same order',
    async (t) => {
      const notes = (id: string, text: string) =>
        app.request('PUT', `/cases/${id}/memory/notes.md`, text)
      const noted = await app.newCase({ title: 'Noted', tags: ['lexeme'] })
      await notes(noted.id, 'A lexeme is here.\n')
      const logged = await app.newCase({ title: 'Logged' })
      const content = 'ok 1 - lexeme lexemes\n'.repeat(20)
      await app.request('POST', `/cases/${logged.id}/proof`, { type: 'log', content })
      const both = await app.newCase({ title: 'The lexeme' })
      await notes(both.id, 'One lexeme.\n')
      await app.request('POST', `/cases/${both.id}/proof`, { type: 'log', content })
      const found = (await app.request('GET', '/search?q=lexeme')).json
      const wanted = ['The lexeme', 'Noted', 'Logged']
      t.strictSame(
        found.map(({ title }: { title: string }) => title),
        wanted,
        'notes before output',
      )
      const files = (at: number) =>
        found[at].lines.map(({ file }: { file: string }) => file.split('/').at(-2))
      t.match(files(0), [both.id, 'proof'], 'and so do their lines')
      t.strictSame(files(1), [noted.id], 'no line is one of the frontmatter')
      const { headers } = await app.request('GET', '/?q=lexeme')
      const pages = await Promise.all(
        ['/find?q=lexeme', headers.location!].map((path) => page(path)),
      )
      for (const html of pages) {
        const ids = [...html.matchAll(/<a href="\/case\/([^"]*)" data-row/g)].map(([, id]) => id)
        t.strictSame(ids, [both.id, noted.id, logged.id])
      }
    },
  )

  t.test('each case with its lines, where they stand, and what matches in them', async (t) => {
    const html = await page('/find?q=LOCK+waits')
    t.match(html, 'name="q" value="LOCK waits"')
    t.match(html, /<title>LOCK waits · Search · [^<]+ · Casefile<\/title>/)
    t.match(
      html,
      `<a href="/case/${slow.id}" data-row="true"><bdi>Exports &lt;b&gt;are&lt;/b&gt; slow</bdi>`,
    )
    t.match(html, /bug · export · /)
    t.match(html, 'For a &lt;i&gt;<mark>lock</mark>&lt;/i&gt;, and a <mark>lock</mark>.')
    t.match(html, 'the <mark>lock</mark> [U+202E] is held', 'what is hidden is shown')
    t.match(html, `<a href="/case/${slow.id}/memory/notes.md?source#L3">notes.md:3</a>`)
    t.match(html, `title="memory/cases/${slow.id}/notes.md:3"`)
    t.notMatch(html, other.id)
    const [, path = ''] = /href="(\S+\?source)#L3"/.exec(html) ?? []
    t.match(await page(path), 'id="L3"', 'the link leads to the line')
  })

  t.test('words that no case has beside the others are named', async (t) => {
    const html = await page('/find?q=lock+xyzzyqq')
    t.match(html, /Missing: <del>xyzzyqq<\/del>/)
    t.match(html, slow.id)
  })

  t.test('filters among the words narrow it, and stand alone', async (t) => {
    const html = await page('/find?q=vault+state:BLOCKED')
    t.match(html, other.id)
    t.notMatch(html, slow.id)
    t.match(await page('/find?q=state:blocked'), /role="status">1 case</)
  })

  t.test('of many the best, with a link to more', async (t) => {
    const html = await page('/find?q=vault&limit=1')
    t.match(html, /Top 1 of 2 cases.*href="\/find\?q=vault&amp;limit=21#result-2">\s*Show more</s)
    t.notMatch(await page('/find?q=vault'), 'Show more')
  })

  t.test('nothing is looked for, nothing is found, or it cannot be looked for', async (t) => {
    t.match(await page('/find'), /autofocus=.*<code>tag:auth<\/code>/s)
    t.notMatch(await page('/find?q=+'), 'No matches')
    t.match(await page('/find?q=xyzzyqq'), 'No matches')
    const refused = await page(`/find?q=${encodeURIComponent('state:x"><script>')}`, 400)
    t.match(refused, /role="alert">.*expected one of OPEN/s)
    t.notMatch(refused, '<script>')
    t.match(await page(`/find?q=${'a'.repeat(1001)}`, 400), 'expected at most 1000 characters')
    t.match(await page('/find?q=a&limit=0', 400), 'from 1 to 1000')
  })
})
