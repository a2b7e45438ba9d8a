/** Texts at the limits of what the service takes, and the requests and saves that bring them. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @typedef {object} HostileAct
 * @property {string} what
 * @property {[name: string, text: string][]} texts
 * @property {(text: string) => Promise<unknown>} act
 */

const KIB = 1024
const MIB = 1024 * KIB

/** As much of a pattern as fits. @param {string} pattern @param {number} bytes */
const fill = (pattern, bytes) => pattern.repeat(Math.floor(bytes / Buffer.byteLength(pattern)))

/** @type {[name: string, pattern: string][]} */
const PATTERNS = [
  ['[', '['],
  ['[](', '[]('],
  ['emphasis', '*a **b '],
  ['quotes', '> '],
  ['nested lists', '- '],
  ['lines of quotes', '> > > x\n'],
  ['items', '- [ ] x (log, required)\n'],
  ['headings', '## Plan\n\n'],
  ['fences', '```sh run\ntrue\n```\n'],
  ['tables', '|a|b|\n|-|-|\n'],
  ['tags', '<a '],
  ['tabs', '\t'],
  ['blank lines', '\n'],
  ['CR', '\r'],
  ['one line', 'a'],
  ['accents', 'a\u0301'],
  ['bidi', '\u202e\u2066'],
  ['backticks', '` `` '],
  ['entities', '&amp;'],
  ['escapes', '\u001b[31m'],
]

/** @param {number} bytes @returns {[string, string][]} */
const texts = (bytes) => PATTERNS.map(([name, pattern]) => [name, fill(pattern, bytes)])

/** @param {number} bytes @param {readonly string[]} names */
const some = (bytes, ...names) => texts(bytes).filter(([name]) => names.includes(name))

const LINES = ['items', 'tabs', 'blank lines', 'one line', 'accents', 'emphasis', 'CR']

/** @param {{ cases: string, ids: string[], url: string }} workspace @returns {HostileAct[]} */
export function hostileActs({ cases, ids, url }) {
  const id = String(ids[0])
  const path = `/cases/${id}`
  const file = (/** @type {string} */ name) => join(cases, id, name)
  const ask = async (
    /** @type {string} */ method,
    /** @type {string} */ where,
    /** @type {unknown} */ body,
    type = 'application/json',
  ) => {
    const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const headers = { ...(sent === undefined ? {} : { 'content-type': type }), accept: '*/*' }
    const answer = await fetch(url + where, { method, headers, body: sent })
    return { status: answer.status, text: await answer.text() }
  }
  const json = async (/** @type {Parameters<typeof ask>} */ ...asked) => {
    const { text } = await ask(...asked)
    return JSON.parse(text)
  }
  const page = (/** @type {string} */ where) => ask('GET', where, undefined)
  const caseText = (/** @type {string} */ head, /** @type {string} */ body) =>
    `---\nid: ${id}\ntitle: Hostile\n${head}state: OPEN\n---\n\n${body}\n`
  const newPlan = async () => {
    await ask('PUT', `${path}/memory/runbook.md`, '```sh run\ntrue\n```\n', 'text/markdown')
    const { id: session } = await json('POST', `${path}/sessions`, { type: 'implementing' })
    for (;;) {
      const { state } = await json('GET', `${path}/sessions/${session}`, undefined)
      if (state === 'plan_ready') return `${path}/sessions/${session}`
    }
  }
  const attach = async (/** @type {string} */ text, /** @type {object} */ more = {}) => {
    const proof = await json('POST', `${path}/proof`, { type: 'test-log', content: text, ...more })
    await page(`/case/${id}`)
    await page(`/case/${id}/proof/${proof.id}`)
    await ask('PUT', `${path}/proof/${proof.id}/verify`, undefined)
  }
  const lookAtCase = async () => {
    await page(path)
    await page(`${path}/gate`)
    await page(`/case/${id}`)
    await page('/')
  }
  return [
    {
      what: 'case.md by hand, 250 KiB',
      texts: texts(250 * KIB),
      async act(text) {
        writeFileSync(file('case.md'), caseText('', text))
        await lookAtCase()
      },
    },
    {
      what: 'a description, 240 KiB',
      texts: some(239 * KIB, ...LINES, '[', 'quotes', 'fences', 'tables'),
      async act(text) {
        await ask('PUT', path, { description: text })
        await lookAtCase()
      },
    },
    {
      what: 'frontmatter, 64 KiB',
      texts: [
        ['tags', `tags: [${fill('a, ', 60 * KIB)}a]\n`],
        ['lists in lists', `tags: ${fill('[', 30 * KIB)}${fill(']', 30 * KIB)}\n`],
        ['maps in maps', `tags: ${fill('{a: ', 60 * KIB)}\n`],
        [
          'keys',
          Array.from({ length: 5000 }, (_, n) => `k${n}: a`)
            .join('\n')
            .concat('\n'),
        ],
        ['aliases', `a: &a [x]\nb: [${fill('*a, ', 60 * KIB)}*a]\n`],
        ['a quoted text', `x: "${fill('\\\\', 60 * KIB)}"\n`],
        ['blanks', `x:${fill(' ', 60 * KIB)}a\n`],
        ['a folded text', `x: >\n${fill('  a\n', 60 * KIB)}`],
        ['comments', fill('# a\n', 60 * KIB)],
        ['colons', `x: ${fill(': ', 60 * KIB)}\n`],
        ['--- lines', fill('---\n', 60 * KIB)],
      ],
      async act(text) {
        writeFileSync(file('case.md'), caseText(text === 'x' ? '' : text, 'Text'))
        await lookAtCase()
        await ask('PUT', path, { title: 'Newer' })
      },
    },
    {
      what: 'checklist items, 240 KiB',
      texts: some(239 * KIB, 'items', 'headings', 'nested lists'),
      async act(text) {
        writeFileSync(file('case.md'), caseText('', `Text\n\n## Proof checklist\n\n${text}`))
        await lookAtCase()
        await ask('POST', `${path}/proof/checklist`, { description: 'One more', type: 'log' })
      },
    },
    {
      what: 'a memory file by request, 10 MiB',
      texts: some(10 * MIB - 1, ...LINES, '[', 'quotes', 'headings', 'bidi'),
      async act(text) {
        writeFileSync(file('case.md'), caseText('', 'Text'))
        await ask('PUT', `${path}/memory/notes.md`, text, 'text/markdown')
        await lookAtCase()
        await page(`${path}/memory/notes.md`)
      },
    },
    {
      what: 'a memory file by hand, 10 MiB',
      texts: some(10 * MIB - 1, ...LINES),
      async act(text) {
        writeFileSync(file('notes.md'), text)
        await lookAtCase()
        await page('/search?q=a')
        await page('/?q=a')
      },
    },
    {
      what: 'history.md, 10 MiB',
      texts: [
        ...some(10 * MIB - 1, ...LINES),
        [
          'entries',
          fill('- 2026-11-20T09:54:00.000Z · Ada · edited title · a b c\n', 10 * MIB - 1),
        ],
      ],
      async act(text) {
        writeFileSync(file('notes.md'), '')
        writeFileSync(file('history.md'), text)
        await page(`${path}/history`)
        await lookAtCase()
        await ask('PUT', path, { title: 'After' })
        await newPlan()
      },
    },
    {
      what: 'a runbook, 256 KiB, and its plan',
      texts: texts(250 * KIB),
      async act(text) {
        writeFileSync(file('history.md'), '')
        const session = await newPlan()
        const plan = `${text.slice(0, 100_000)}\n\n\`\`\`sh run\ntrue\n\`\`\`\n${text.slice(100_000)}`
        await ask('PUT', `${session}/plan`, { plan })
        await page(session)
        await page(session.replace('/cases/', '/case/'))
        await ask('POST', `${session}/abandon`, {})
        await ask('PUT', `${path}/memory/runbook.md`, text, 'text/markdown')
        await ask('POST', `${path}/sessions`, { type: 'implementing' })
      },
    },
    {
      what: 'notes and comments, 20,000 characters',
      texts: some(19_990, ...LINES, '[', 'quotes', 'bidi'),
      async act(text) {
        const session = await newPlan()
        for (let n = 0; n < 20; n++) await ask('POST', `${session}/comments`, { text, line: 1 })
        await page(session.replace('/cases/', '/case/'))
        await ask('POST', `${session}/revise`, { note: text })
        await page(session)
        await ask('POST', `${session}/abandon`, { reason: text.slice(0, 2000) })
      },
    },
    {
      what: 'a session file by hand, 2 MiB',
      texts: [...some(2 * MIB - 2000, ...LINES, '[', 'quotes'), ['trail lines', '']],
      async act(text) {
        const lines = Array.from(
          { length: text === '' ? 20_000 : 2 },
          (_, n) => `${n + 1}. 2026-11-20T09:54:00.000Z tool_call name="a" n=${n}`,
        )
        const head =
          '---\nnumber: 900\nsession_type: implementing\nstate: complete\n---\n\n## Plan\n\n'
        const trail = `\n\n## Audit trail\n\n<details>\n\n${lines.join('\n')}\n\n</details>\n`
        writeFileSync(file('sessions/900.md'), head + text + trail)
        await lookAtCase()
        const all = await json('GET', `${path}/sessions`, undefined)
        await page(`${path}/sessions/${all.at(-1).id}`)
        await page(`/case/${id}/sessions/${all.at(-1).id}`)
      },
    },
    {
      what: 'proof, 10 MiB',
      texts: [
        ...some(10 * MIB - 1, ...LINES, 'escapes'),
        ['TAP', `TAP version 13\n${fill('ok 1 - a\n', 10 * MIB - 100)}1..1\n`],
        ['TAP that fails', fill('not ok - a\n  ---\n  x: y\n  ...\n', 10 * MIB - 1)],
        ['TAP comments', fill('# a\n', 10 * MIB - 1)],
        ['JUnit', `<testsuite>${fill('<testcase name="a"/>', 10 * MIB - 100)}</testsuite>`],
        ['JUnit in depth', `<testsuite>${fill('<testsuite>', 10 * MIB - 100)}`],
        ['JUnit attributes', `<testsuite ${fill('a="b" ', 10 * MIB - 100)}></testsuite>`],
        ['JUnit entities', `<testsuite name="${fill('&#10;', 10 * MIB - 100)}"/>`],
        ['go test', fill('{"Action":"pass","Package":"a","Test":"B"}\n', 10 * MIB - 1)],
        [
          'go output',
          fill('{"Action":"output","Package":"a","Test":"B","Output":"x"}\n', 10 * MIB),
        ],
        [
          'a diff',
          `diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,1 +1,9 @@\n${fill('+a\n', 10 * MIB - 999)}`,
        ],
        [
          'files of a diff',
          fill('diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n', 10 * MIB - 1),
        ],
      ],
      act: (text) => attach(text, text.startsWith('diff') ? { type: 'diff' } : {}),
    },
    {
      what: 'a title, tags and a reason',
      texts: some(500, ...LINES, 'bidi'),
      async act(text) {
        const tags = Array.from({ length: 100 }, (_, n) => `${n}${text.trim().slice(0, 50)}`)
        await ask('PUT', path, { title: text, tags })
        await ask('PUT', `${path}/state`, { state: 'BLOCKED', reason: text.repeat(4) })
        await lookAtCase()
      },
    },
    {
      what: 'a search, 8 KiB',
      texts: [
        ...some(8 * KIB, 'one line', 'accents', '['),
        ['words', fill('ab ', 8 * KIB)],
        ['quotes', fill('"', 8 * KIB)],
        ['brackets', fill('(a OR ', 8 * KIB)],
        ['stars', fill('a* ', 8 * KIB)],
        ['minus', fill('-a ', 8 * KIB)],
      ],
      async act(text) {
        const query = encodeURIComponent(text)
        await page(`/cases?q=${query}`)
        await page(`/?q=${query}`)
      },
    },
    {
      what: 'a hook and a webhook, 1 MiB',
      texts: [...some(MIB - 1000, ...LINES, 'bidi', 'escapes'), ['lists', '']],
      async act(text) {
        const deep = JSON.parse(`${fill('[', 1000)}${fill(']', 1000)}`)
        const tool_input = text === '' ? { command: 'a', deep } : { command: text, file_path: text }
        const hook = { session_id: 's', cwd: '/', tool_name: 'Bash', tool_input }
        for (const event of ['PreToolUse', 'PostToolUse', 'UserPromptSubmit', 'Stop']) {
          const body = { ...hook, hook_event_name: event, prompt: text, tool_response: text }
          await ask('POST', `/hooks/claude?event=${event}`, body)
        }
        await ask('POST', '/webhooks', { url: `http://127.0.0.1:1/${text}`, events: [text] })
      },
    },
  ]
}
