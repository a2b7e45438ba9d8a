import { mkdirSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { textOf } from '../fixtures/page-text.ts'
import { openTestService } from '../fixtures/workspace.ts'

const app = await openTestService(t)
const PROOF = '00000000-0000-4000-8000-000000000001'

async function pageOf(path: string): Promise<string> {
  const reply = await app.request('GET', path, undefined, { accept: 'text/html' })
  t.equal(reply.status, 200, `${path}: ${reply.text.slice(0, 300)}`)
  return reply.text
}

t.test('a case whose file cannot be read says so, and has no forms for what it says', async (t) => {
  const { id } = await app.newCase({ title: 'Broken since' })
  writeFileSync(app.file(id, 'case.md'), '---\ntitle: Broken since\ntags: 5\n---\n\nWords\n')
  const html = await pageOf(`/case/${id}`)
  t.match(textOf(html, 'description'), "case.md can't be read; see the problem above.")
  t.notMatch(html, 'No description yet.')
  for (const form of ['edit-case', 'edit-description', 'set-state', 'add-item', 'resolve'])
    t.notMatch(html, `id="${form}"`, form)
  t.match(
    html,
    /<a class="button compact" href="[^"]*\/memory\/case\.md\?source#L3">Fix case\.md<\/a>/,
  )

  await t.test('its source has the line marked, with the problem', async (t) => {
    const source = await pageOf(`/case/${id}/memory/case.md?source`)
    t.match(
      source,
      /class="source-line bad" id="L3"><span class="hl-attribute">tags:<\/span> <span class="hl-number">5<\/span>\n<\/span><span class="source-prob/,
    )
    t.match(textOf(source, 'problems'), /case\.md, line 3 *: .*What to do: /)
    t.match(source, 'id="memory-editor"', 'and can be fixed there')
  })
})

const BROKEN = '---\nnumber: one\nstate: [\n---\n\n## Plan\n\n<b>raw</b>\n'

t.test('a session file that cannot be read is shown as it stands, and not edited', async (t) => {
  const { id } = await app.newCase()
  mkdirSync(app.file(id, 'sessions'), { recursive: true })
  writeFileSync(app.file(id, 'sessions', '1.md'), BROKEN)
  const [, address] = /href="([^"]*\/memory\/1\.md[^"#]*)/.exec(await pageOf(`/case/${id}`)) ?? []
  const html = await pageOf(address ?? 'no link')
  t.match(textOf(html, 'memory-head'), 'sessions/1.md')
  t.match(textOf(html, 'memory-head'), app.file(id, 'sessions', '1.md'), 'where it lies')
  t.match(html, '&lt;<span class="hl-type">b</span>&gt;raw')
  t.notMatch(html, 'id="memory-editor"')
  t.notMatch(html, 'id="edit-memory"')
  t.notMatch(html, `/case/${id}/session/1"`, 'there is no such page')
  t.equal((await app.request('GET', `/case/${id}/memory/2.md`)).status, 404)
})

t.test('so is a file of proof', async (t) => {
  const { id } = await app.newCase()
  mkdirSync(app.file(id, 'proof'), { recursive: true })
  writeFileSync(app.file(id, 'proof', `${PROOF}.md`), BROKEN)
  const html = await pageOf(`/case/${id}/proof/${PROOF}`)
  t.match(textOf(html, 'memory-head'), `proof/${PROOF}.md`)
  t.match(html, 'class="source-line bad"')
})

t.test('much of anything is folded', async (t) => {
  const tags = Array.from({ length: 40 }, (_, n) => `t${n}`)
  const { id } = await app.newCase({ tags, description: 'Text' })
  await app.request('PUT', `/cases/${id}/state`, { state: 'BLOCKED', reason: 'why '.repeat(300) })
  for (let n = 1; n <= 30; n++) writeFileSync(app.file(id, `note-${n}.md`), 'A note\n')
  const html = await pageOf(`/case/${id}`)
  t.match(textOf(html, 'more-tags'), /^All 40 tags t20 t21/)
  t.match(
    textOf(html, 'more-files'),
    /^All 32 files note-14\.md .*note-15\.md/,
    'counted as people do',
  )
  t.match(html, 'id="reason"')
})

t.test('text from right to left', async (t) => {
  const { id } = await app.newCase({ title: 'שלום', description: 'שלום עולם\n\nAnd left\n' })
  const html = await pageOf(`/case/${id}`)
  t.match(html, '<h1 dir="rtl" tabindex="-1">שלום</h1>')
  t.match(html, '<p dir="rtl">שלום עולם</p>')
  t.match(html, '<p>And left</p>')
})
