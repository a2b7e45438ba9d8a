import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { formTag, textOf } from '../fixtures/page-text.ts'
import { planned, step } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const app = await openTestService(t)

async function pageOf(path: string, of: TestService = app): Promise<string> {
  const reply = await of.request('GET', path, undefined, { accept: 'text/html' })
  t.equal(reply.status, 200, `${path}: ${reply.text.slice(0, 300)}`)
  t.match(reply.headers['content-type'], /^text\/html/)
  return reply.text
}

t.test('a new case', async (t) => {
  const { id } = await app.newCase({ title: 'Lost sums', description: '# Why\n\nSee `sum`.' })
  const html = await pageOf(`/case/${id}`)
  t.match(html, /<h1[^>]*>Lost sums<\/h1>/)
  t.match(html, /<h2 id="text-why">Why<\/h2>/, 'its headings are below the title')
  t.match(html, '<code>sum</code>')
  t.match(textOf(html, 'gate'), /To resolve.*Missing: At least one verified proof/)
  t.match(textOf(html, 'history'), /History .*created the case/)
  t.match(textOf(html, 'memory'), 'case.md')
  t.notMatch(html, 'id="resolve"', 'nothing to resolve it with')
  t.match(html, /<option value="RESOLVED"[^>]* disabled/, 'nor in the list of states')
  t.match(html, `data-live="/events?after=now&amp;output=no&amp;case=${id}"`)
  t.match(textOf(html, 'memory'), app.file(id), 'the path of the folder')
  const hints = [...html.matchAll(/class="hint" id="([^"]*)"/g)].map(([, hint]) => hint!)
  t.ok(hints.length > 8, 'fields have hints')
  for (const hint of hints)
    t.match(html, `aria-describedby="${hint}"`, `a control is described by ${hint}`)
})

t.test('a case says its state once', async (t) => {
  const partOf = async (id: string, part: string) => textOf(await pageOf(`/case/${id}`), part)
  const { id } = await app.newCase({ title: 'Once' })
  t.equal(await partOf(id, 'state'), 'Open')
  await app.request('PUT', `/cases/${id}/state`, { state: 'BLOCKED', reason: 'Waits for Ada.' })
  t.equal(await partOf(id, 'state'), 'Blocked')
  t.equal(await partOf(id, 'status'), 'This case is blocked. Waits for Ada.', 'nothing to press')
})

t.test('the form of a new session chooses as the command does', async (t) => {
  const checked = async (type: string) => {
    const { id } = await app.newCase({ type })
    const html = await pageOf(`/case/${id}`)
    t.match(html, /<summary>\s*Something else: [a-z]/)
    return [...html.matchAll(/name="type" value="([a-z]+)" checked/g)].map(([, name]) => name)
  }
  t.strictSame(await checked('bug'), ['implementing'])
  t.strictSame(await checked('investigation'), ['investigating'])
})

t.test('the forms that change a case are held to what the page shows', async (t) => {
  const { id } = await app.newCase({ title: 'IgnoredChange' })
  const html = await pageOf(`/case/${id}`)
  const { headers } = await app.request('GET', `/cases/${id}`)
  const etag = headers.etag!.replaceAll('"', '&quot;')
  for (const form of ['edit-case-form', 'edit-description-form', 'delete-case'])
    t.ok(formTag(html, form).includes(`data-if-match="${etag}"`), form)
})

t.test('texts come into the fields as they are', async (t) => {
  const description = '\n\nbegins with empty lines\n</textarea><b>not bold</b>'
  const { id } = await app.newCase({ title: '"quoted" <i>', description, tags: ['a', 'b'] })
  const html = await pageOf(`/case/${id}`)
  const { description: kept } = (await app.request('GET', `/cases/${id}`)).json
  const [, area] = /<textarea id="description-text"[^>]*>(.*?)<\/textarea>/s.exec(html)!
  const shown = area!.replaceAll('&lt;', '<').replaceAll('&gt;', '>')
  t.equal(shown, `\n${kept}`, 'behind the line end that HTML leaves out')
  t.match(html, 'value="&quot;quoted&quot; &lt;i&gt;"')
  t.match(html, 'name="tags" value="a b"')
  t.notMatch(html, '<b>not bold')
})

t.test('the gate', async (t) => {
  const { id } = await app.newCase()
  const item = { description: 'All tests pass', type: 'test-log', required: true }
  await app.request('POST', `/cases/${id}/proof/checklist`, item)
  const proof = { type: 'test-log', content: '1..1\nok 1 - <all>\n' }
  const { id: pid } = (await app.request('POST', `/cases/${id}/proof`, proof)).json

  await t.test('shut, it says what is missing, and what is only to be verified', async (t) => {
    const html = await pageOf(`/case/${id}`)
    t.match(textOf(html, 'gate'), /Missing: All tests pass test-log/)
    t.match(textOf(html, 'status'), /would meet "All tests pass"\. Read and verify$/)
    t.match(textOf(html, 'proof'), /test-log not verified meets: All tests pass/)
    t.match(html, '&lt;all&gt;')
    t.match(html, 'id="proof-type" name="type" value="test-log"', 'the type that is missing')
  })
  await t.test('a proof is verified as the page shows it', async (t) => {
    t.notMatch(await pageOf(`/case/${id}`), `id="verify-${pid}"`, 'it is read first')
    const html = await pageOf(`/case/${id}/proof/${pid}`)
    const { headers } = await app.request('GET', `/cases/${id}/proof/${pid}`)
    const etag = headers.etag!.replaceAll('"', '&quot;')
    const form = formTag(html, `verify-${pid}`)
    t.ok(form.includes(`data-if-match="${etag}"`), form)
    t.ok(form.includes(`action="/cases/${id}/proof/${pid}/verify"`), form)
  })
  await t.test('open, it names the proof, and the case can be resolved', async (t) => {
    await app.request('PUT', `/cases/${id}/proof/${pid}/verify`)
    const html = await pageOf(`/case/${id}`)
    t.match(textOf(html, 'gate'), /Met: All tests pass.*View proof/)
    t.match(html, `<a class="small" href="/case/${id}/proof/${pid}">View proof`)
    t.match(formTag(html, 'resolve'), `action="/cases/${id}/state"`)
    t.notMatch(html, `id="verify-${pid}"`)
  })
  await t.test('a proof that was changed in its file is told apart', async (t) => {
    const other = await app.newCase()
    const made = await app.request('POST', `/cases/${other.id}/proof`, proof)
    await app.request('PUT', `/cases/${other.id}/proof/${made.json.id}/verify`)
    const file = app.file(other.id, 'proof', `${made.json.id}.md`)
    writeFileSync(file, readFileSync(file, 'utf8').replace('1 - <all>', '2 - none'))
    const html = await pageOf(`/case/${other.id}`)
    t.match(textOf(html, 'proof'), 'changed since it was verified')
    t.match(html, 'proof_changed')
    t.match(html, 'What to do: ')
  })
})

t.test('a proof with failures says what failed, and asks for a reason', async (t) => {
  const { id } = await app.newCase()
  const content = 'TAP version 13\n1..2\nok 1 - out\nnot ok 2 - in <b>\n'
  const report = { type: 'test-log', content }
  const { id: pid } = (await app.request('POST', `/cases/${id}/proof`, report)).json
  const item = { description: 'All tests pass', type: 'test-log', required: true }
  await app.request('POST', `/cases/${id}/proof/checklist`, item)
  const ofCase = await pageOf(`/case/${id}`)
  t.match(textOf(ofCase, 'gate'), "test-log doesn't count: 1 of 2 tests failed: in &lt;b&gt;")
  t.notMatch(textOf(ofCase, 'gate'), 'Review and verify', 'verifying it would not do')
  t.match(textOf(ofCase, 'proof'), "Doesn't count: 1 of 2 tests failed: in &lt;b&gt;")
  t.notMatch(ofCase, `id="verify-${pid}"`, 'it is read first')
  const html = await pageOf(`/case/${id}/proof/${pid}`)
  t.match(textOf(html, 'proof-objection'), "This proof doesn't count: 1 of 2 tests failed")
  t.match(textOf(html, 'failed-tests'), 'Failed tests ✗ in &lt;b&gt; ✓ 1 passed')
  t.match(formTag(html, `accept-${pid}`), `action="/cases/${id}/proof/${pid}/verify"`)
  await app.request('PUT', `/cases/${id}/proof/${pid}/verify`, { accept: 'It is <flaky>.' })
  for (const path of [`/case/${id}`, `/case/${id}/proof/${pid}`]) {
    const accepted = await pageOf(path)
    t.match(
      accepted,
      /Accepted although 1 of 2 tests failed: in &lt;b&gt;: <bdi>It is &lt;flaky&gt;\./,
    )
    t.notMatch(accepted, `id="accept-${pid}"`)
  }
})

t.test('a file leads to its page, whatever its name', async (t) => {
  const { id } = await app.newCase({ title: 'Names' })
  for (const name of ['a#b.md', 'a?b %41&.md', "it's <b>.md"])
    writeFileSync(app.file(id, name), `In ${name.replace('<', '')}\n`)
  const html = await pageOf(`/case/${id}`)
  for (const path of ['a%23b.md', 'a%3Fb%20%2541%26.md', "it's%20%3Cb%3E.md"]) {
    t.match(html, `href="/case/${id}/memory/${path.replace("'", '&#39;')}"`)
    const page = await pageOf(`/case/${id}/memory/${path}`)
    t.match(textOf(page, 'memory-text'), / In (?:a|it)/)
  }
})

t.test('parents and parts lead to one another', async (t) => {
  const parent = await app.newCase({ title: 'The whole' })
  const part = await app.newCase({ title: 'A part', parent: parent.id })
  t.match(await pageOf(`/case/${parent.id}`), `href="/case/${part.id}">A part</a>`)
  t.match(await pageOf(`/case/${part.id}`), `href="/case/${parent.id}">The whole</a>`)
})

t.test('the history is the main column', async (t) => {
  const { id } = await app.newCase({ title: 'Told in order' })
  const act = (method: string, path: string, body: object) =>
    app.request(method, `/cases/${id}${path}`, body, { 'casefile-actor': 'Ada' })
  await act('PUT', '/state', { state: 'NEEDS_USER_INPUT', reason: '8 or <24> hours?' })

  await t.test('with the box for the answer below the question', async (t) => {
    const html = await pageOf(`/case/${id}`)
    t.match(html, '<title>● question · Told in order ·')
    t.match(
      textOf(html, 'status'),
      /question waits for your answer\. 8 or &lt;24&gt; hours\? Answer$/,
    )
    t.match(textOf(html, 'history-2'), /Ada asked 8 or &lt;24&gt; hours\? Your answer/)
    t.match(formTag(html, 'answer-form'), `action="/cases/${id}/answer"`)
  })
  await t.test('the answer follows', async (t) => {
    await act('POST', '/answer', { text: '8 hours' })
    const html = await pageOf(`/case/${id}`)
    t.match(textOf(html, 'history-3'), /^Ada answered 8 hours /)
    t.notMatch(html, 'id="history-4"', 'the change of the state is part of it')
    t.notMatch(html, 'answer-form')
  })
})

t.test('a long history is folded in the middle', async (t) => {
  const { id } = await app.newCase({ title: 'Long' })
  const lines = Array.from({ length: 200 }, (_, n) => {
    const at = new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString()
    return n % 2 === 0 ? `- ${at} · Ada · Note ${n}.` : `- ${at} · Ada · edited title · title: ${n}`
  })
  writeFileSync(app.file(id, 'history.md'), `# History\n\n${lines.join('\n')}\n`)
  const html = await pageOf(`/case/${id}`)
  t.match(textOf(html, 'more-history'), /^Show 17[01] more entries/)
  t.match(textOf(html, 'more-history'), 'Note 100.', 'all of it is there')
})

t.test('a plan that waits comes first', async (t) => {
  const { case_id: id } = await planned(app, { runbook: step('true') })
  const html = await pageOf(`/case/${id}`)
  t.match(textOf(html, 'status'), /^The plan of session 1 waits for approval\..* Review the plan$/)
  t.ok(html.indexOf('id="status"') < html.indexOf('id="state"'))
  t.match(textOf(html, 'session-1'), /Session 1 runbook Plan ready/)
})

t.test('problems have a place, a message and what to do', async (t) => {
  const { id } = await app.newCase({ title: 'Marked' })
  writeFileSync(app.file(id, 'case.md'), '---\ntitle: a: b\n---\n\nText\n')
  const html = await pageOf(`/case/${id}`)
  t.match(html, /href="\/case\/[0-9a-f-]+\/memory\/case\.md\?source#L\d">case\.md, line \d/)
  t.match(html, 'bad_frontmatter')
  t.match(html, 'What to do: Start the file with a line ---')
})

const HOSTILE = '<script>alert(1)</script>"\'><img src=x onerror=alert(1)>'

t.test('hostile texts are text, wherever they stand', async (t) => {
  const { id } = await app.newCase({ title: HOSTILE, description: HOSTILE, workdir: HOSTILE })
  const proof = { type: 'log', content: HOSTILE }
  const { id: pid } = (await app.request('POST', `/cases/${id}/proof`, proof)).json
  await app.request('PUT', `/cases/${id}/memory/x.md`, `---\n${HOSTILE}\n---\n${HOSTILE}`)
  await app.request('PUT', `/cases/${id}/state`, { state: 'BLOCKED', reason: HOSTILE })
  const paths = ['', `/proof/${pid}`, '/memory/x.md', '/memory/x.md?source']
  for (const path of [...paths, '/memory/case.md'])
    await t.test(path, async (t) => {
      const html = await pageOf(`/case/${id}${path}`)
      t.notMatch(html, /<img src=x/)
      t.notMatch(html, /<script>|alert\(1\)[^<]*<\/script>/)
      t.notMatch(html, / style="/, 'no inline style, which the policy would refuse')
      t.equal(html.match(/<script/g)?.length, 1, 'only that of the page')
      t.equal(html.match(/<h1/g)?.length, 1)
    })
})

t.test('many sessions and much proof', async (t) => {
  await t.test('are listed, the contents of the newest only', async (t) => {
    const { id } = await app.newCase()
    for (let n = 1; n <= 30; n++) {
      const path = app.file(id, 'proof', `00000000-0000-4000-8000-0000000000${n + 10}.md`)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, `---\ntype: log\n---\n\n\`\`\`\ntext ${n}\n\`\`\`\n`)
    }
    // a file that is a moment old may still be on its way
    while ((await app.request('GET', `/cases/${id}/proof`)).json.length < 30) await delay(20)
    const html = await pageOf(`/case/${id}`)
    t.equal(html.match(/<li id="proof-/g)?.length, 30)
    t.equal(html.match(/<pre class="excerpt/g)?.length, 25)
  })

  await t.test('of a long content the first and last lines', async (t) => {
    for (const [count, eol, shown] of [
      [14, '\n', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]],
      [15, '\r\n', [1, 2, 3, 4, 5, 6, '3 more lines', 10, 11, 12, 13, 14, 15]],
    ] as const) {
      const { id } = await app.newCase()
      const content = Array.from({ length: count }, (_, n) => `${n + 1}${eol}`).join('')
      await app.request('POST', `/cases/${id}/proof`, { content, type: 'log' })
      const [, box] = /<pre class="excerpt[^>]*>(.*?)<\/pre>/s.exec(await pageOf(`/case/${id}`))!
      t.same(
        box!
          .replace(/<[^>]*>/g, '\n')
          .trim()
          .split(/\n+/),
        shown.map(String),
      )
    }
  })
})
