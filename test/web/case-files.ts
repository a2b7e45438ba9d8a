import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readProofFile } from '../../src/web/proof/client/proof-file.ts'
import { inLongLane } from '../fixtures/full.ts'
import { formTag, textOf } from '../fixtures/page-text.ts'
import { must, planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const app = await openTestService(t)

async function pageOf(path: string): Promise<string> {
  const reply = await app.request('GET', path, undefined, { accept: 'text/html' })
  t.equal(reply.status, 200, `${path}: ${reply.text.slice(0, 300)}`)
  return reply.text
}

// Memory files

t.test('a memory file is rendered, and is there as source', async (t) => {
  const { id } = await app.newCase()
  await app.request('PUT', `/cases/${id}/memory/notes.md`, '# Hello\r\n\r\nSee [it](other.md).\r\n')
  const html = await pageOf(`/case/${id}/memory/notes.md`)
  t.match(html, '<h2 id="text-hello">Hello</h2>')
  t.match(html, `href="/case/${id}/memory/other.md"`)
  t.match(html, `data-api="/cases/${id}/memory/notes.md"`)
  const { headers } = await app.request('GET', `/cases/${id}/memory/notes.md`)
  t.match(html, `data-etag="${headers.etag!.replaceAll('"', '&quot;')}"`)
  const source = await pageOf(`/case/${id}/memory/notes.md?source`)
  t.match(source, '# Hello␍</span>\n', 'with the line ends that it has')
})

t.test('of a large file the first part is shown, and where the rest is', inLongLane, async (t) => {
  const { id } = await app.newCase()
  await app.request('PUT', `/cases/${id}/memory/large.md`, `${'> '.repeat(400_000)}\n\nIts end.\n`)
  for (const query of ['', '?source']) {
    const html = await pageOf(`/case/${id}/memory/large.md${query}`)
    t.match(textOf(html, 'memory-text'), 'Only the first 512.0 KiB are shown here.', query)
    t.match(html, `<a href="/cases/${id}/memory/large.md">Show the whole file</a>`)
    t.notMatch(html, 'Its end.')
  }
})

t.test('frontmatter is no prose', async (t) => {
  const { id } = await app.newCase({ title: 'In front', description: '## Why\n\nText' })
  const html = await pageOf(`/case/${id}/memory/case.md`)
  t.match(html, /<pre class="frontmatter" [^>]*tabindex="0">id: [^<]*\ntitle: In front\n/)
  t.match(html, '<h2 id="text-why">Why</h2>')
})

t.test('whether a file can be edited', async (t) => {
  const { id } = await app.newCase()
  const editor = (html: string) => html.includes('id="memory-editor"')
  await t.test('a name that nothing has yet: the editor is to open', async (t) => {
    const html = await pageOf(`/case/${id}/memory/new.md`)
    t.match(html, 'id="memory-now" data-etag=""')
    t.match(textOf(html, 'memory-missing'), 'This file does not exist yet.')
  })
  await t.test('what is not UTF-8: no, with its line', async (t) => {
    writeFileSync(app.file(id, 'latin.md'), Buffer.from([0x61, 0x0a, 0xe4]))
    const html = await pageOf(`/case/${id}/memory/latin.md`)
    t.match(textOf(html, 'memory-head'), 'Line 2 is not UTF-8')
    t.notOk(editor(html))
  })
  await t.test('a symbolic link: no', async (t) => {
    symlinkSync(join(app.root, 'elsewhere.md'), app.file(id, 'link.md'))
    const html = await pageOf(`/case/${id}/memory/link.md`)
    t.match(textOf(html, 'memory-head'), 'symbolic link')
    t.notOk(editor(html))
  })
  await t.test('a folder: no', async (t) => {
    mkdirSync(app.file(id, 'folder.md'))
    t.notOk(editor(await pageOf(`/case/${id}/memory/folder.md`)))
  })
  await t.test('a session that waits: yes; one that ended: no', async (t) => {
    const ref = await planned(app, { runbook: step('true') })
    const page = `/case/${ref.case_id}/memory/1.md`
    t.ok(editor(await pageOf(page)))
    await must(app, 'POST', `${ref.path}/abandon`)
    const html = await pageOf(page)
    t.notOk(editor(html))
    t.match(textOf(html, 'memory-head'), 'Session 1 is sealed, so its file is read-only.')
    t.match(html, '<h1>sessions/1.md</h1>')
  })
  await t.test('a name that is none: there is no page', async (t) => {
    for (const [name, status] of [
      ['notes.txt', 400],
      ['.hidden.md', 400],
      ['CASE.md', 400],
      ['7.md', 404],
    ] as const)
      t.equal((await app.request('GET', `/case/${id}/memory/${name}`)).status, status, name)
  })
})

// Proof

t.test('a proof has a page with all of its content', async (t) => {
  const { id } = await app.newCase({ title: 'Sums' })
  const attach = async (type: string, content: string) =>
    (await must(app, 'POST', `/cases/${id}/proof`, { type, content })).id as string

  await t.test('a report, as a terminal shows it', async (t) => {
    const pid = await attach('test-log', '\u001b[31mnot ok\u001b[0m 1 <b>\nsecond\n')
    const html = await pageOf(`/case/${id}/proof/${pid}`)
    t.match(html, /<pre class="terminal" [^>]*><span class="fg-1">not ok<\/span> 1 &lt;b&gt;/)
    t.match(textOf(html, 'proof-head'), /Cases Sums Proof test-log not verified 29 B/)
    t.match(formTag(html, `verify-${pid}`), 'data-if-match="&quot;')
  })
  await t.test('a test report, as its tests or its text', async (t) => {
    const pid = await attach('test-log', 'TAP version 13\n1..1\nok 1 - adds\n')
    const page = `/case/${id}/proof/${pid}`
    const html = await pageOf(page)
    t.match(textOf(html, 'proof-content'), 'adds')
    t.notMatch(html, 'TAP version 13')
    t.match(textOf(await pageOf(`${page}?view=raw`), 'proof-content'), 'TAP version 13')
  })
  await t.test('once verified, with what comes next', async (t) => {
    const { id } = await app.newCase({ title: 'Next' })
    const path = `/cases/${id}/proof`
    const add = () => must(app, 'POST', path, { type: 'log', content: 'ok' })
    const { id: pid } = await add()
    t.match(
      textOf(await pageOf(`/case/${id}/proof/${pid}`), 'status'),
      /not verified yet\..* Verify log$/,
    )
    const item = { description: 'Fast', type: 'benchmark', required: true }
    await must(app, 'POST', `${path}/checklist`, item)
    await must(app, 'PUT', `${path}/${pid}/verify`)
    const missing = await pageOf(`/case/${id}/proof/${pid}`)
    t.match(textOf(missing, 'status'), /Attach a proof of type benchmark, .* Attach proof$/)
    const { id: seen } = await must(app, 'POST', path, { type: 'benchmark', content: 'ok' })
    await must(app, 'PUT', `${path}/${seen}/verify`)
    t.match(await pageOf(`/case/${id}/proof/${seen}`), `href="/case/${id}" data-key="a">Resolve`)
  })
  await t.test('a diff, as a diff, and its very text', async (t) => {
    const diff =
      'diff --git a/x.js b/x.js\n--- a/x.js\n+++ b/x.js\n@@ -1 +1 @@\n-one <i>\n+two <i>\n'
    const pid = await attach('diff', diff)
    const html = await pageOf(`/case/${id}/proof/${pid}`)
    t.match(html, '<tr class="removed">')
    t.match(await pageOf(`/case/${id}/proof/${pid}?view=raw`), '+two &lt;i&gt;\n')
    const listed = await pageOf(`/case/${id}`)
    t.match(listed, '<tr class="removed">', 'also in the list of the case')
    t.notMatch(listed, 'diff --git')
    t.match(await pageOf(`/case/${id}/proof/${pid}/changes?diff=split`), 'class="diff split"')
    const log = await attach('log', 'text\n')
    t.equal((await app.request('GET', `/case/${id}/proof/${log}/changes`)).status, 404)
  })
  await t.test('a long one in part, and whole as plain text', async (t) => {
    const long = `begin\n${'filled\n'.repeat(100_000)}the end\n`
    const pid = await attach('log', long)
    const html = await pageOf(`/case/${id}/proof/${pid}`)
    t.ok(html.length < 110_000, `${html.length}`)
    t.match(html, 'begin\n')
    t.match(html, 'the end\n')
    t.match(textOf(html, 'proof-content'), 'in the middle are not shown')
    const all = `/cases/${id}/proof/${pid}/content`
    t.match(html, `<a href="${all}">Show all</a>`)
    t.equal((await app.request('GET', all)).text, long)
  })
  await t.test('one that is not there', async (t) => {
    const none = '00000000-0000-4000-8000-000000000000'
    const reply = await app.request('GET', `/case/${id}/proof/${none}`, undefined, {
      accept: 'text/html',
    })
    t.equal(reply.status, 404)
  })
})

t.test('a file that is chosen as proof', async (t) => {
  const read = (bytes: Uint8Array<ArrayBuffer> | string, name = 'x.log') =>
    readProofFile(new File([bytes], name))
  await t.test('is taken as it is, byte order mark and line ends too', async (t) => {
    t.strictSame(await read('\ufeffa\r\nb'), { ok: true, text: '\ufeffa\r\nb' })
  })
  await t.test('is refused where it is no text, with what to do instead', async (t) => {
    for (const bytes of [Buffer.from([0x89, 0x50, 0xff]), Buffer.from('a\0b')])
      t.match(await read(bytes, 'x.png'), {
        ok: false,
        why: /x\.png is neither UTF-8 text nor a PNG.*describe/,
      })
  })
  await t.test('is refused where it is empty or too large', async (t) => {
    t.match(await read(''), { ok: false, why: 'is empty' })
    const large = await read(Buffer.alloc(10 * 1024 * 1024 + 1, 'x'))
    t.match(large, { ok: false, why: 'limited to 10 MiB' })
  })
})

t.test('nothing that a page reads is changed by it', async (t) => {
  const { id } = await app.newCase()
  const before = readFileSync(app.file(id, 'case.md'))
  for (const path of ['', '/memory/case.md', '/memory/other.md']) await pageOf(`/case/${id}${path}`)
  t.ok(readFileSync(app.file(id, 'case.md')).equals(before))
  const names = (await app.request('GET', `/cases/${id}/memory`)).json
  t.strictSame(
    names.map(({ filename }: { filename: string }) => filename),
    ['case.md', 'history.md'],
  )
})
