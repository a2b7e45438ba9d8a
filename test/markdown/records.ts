import { deepEqual, equal, notEqual, ok } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { CASE_LAYOUT, editedCase, newCaseText, readCase } from '../../src/markdown/case-file.ts'
import { readChecklist, shortItems, withItem } from '../../src/markdown/checklist.ts'
import { parsedChecklist } from '../../src/markdown/checklist-parse.ts'
import { conflictLine } from '../../src/markdown/conflict-markers.ts'
import { useParser } from '../../src/markdown/parser-pool.ts'
import {
  contentHash,
  countedProof,
  newProofText,
  readProof,
} from '../../src/markdown/proof-file.ts'
import { LEAD, readSections, sectionText } from '../../src/markdown/sections.ts'
import { listedEvidence } from '../../src/markdown/session-evidence.ts'
import { derivedId, readSession, sha256 } from '../../src/markdown/session-file.ts'
import {
  editedSession,
  evidenceHash,
  newSessionText,
  readSessionTexts,
} from '../../src/markdown/session-texts.ts'
import { readTrail, readTrailLine, trailLineText } from '../../src/markdown/trail.ts'
import { appendSeal, appendTrail } from '../../src/markdown/trail-edit.ts'
import type { FailedTest } from '../../src/model/failed-test.ts'
import {
  NO_CHANGE,
  type Session,
  type SessionEdit,
  type SessionFields,
} from '../../src/model/session.ts'
import type { NewFileLine, TrailLine } from '../../src/model/trail.ts'
import { numbered } from '../../src/model/trail-lines.ts'
import { anyCharacter } from '../fixtures/any-character.ts'
import { TRICKY_STRINGS } from '../fixtures/frontmatter.ts'
import { hostileText } from '../fixtures/markdown-text.ts'
import { CASE, CASE_ID, FORGED, NOW, PROOF, SESSION, TRAIL } from '../fixtures/records.ts'

t.teardown(useParser())

const ORIGIN = { id: CASE_ID, created_at: NOW }
const SESSION_ORIGIN = { case_id: CASE_ID, number: 2, case_title: 'A case', created_at: NOW }

async function caseOf(text: string) {
  const { value, problems } = await readCase(text, ORIGIN)
  ok(value, JSON.stringify(problems))
  return value
}

function sessionOf(text: string): Session {
  const { value, problems } = readSession(text, SESSION_ORIGIN)
  ok(value, JSON.stringify(problems))
  return value
}

async function textsOf(text: string) {
  const { value, problems } = await readSessionTexts(text, sessionOf(text))
  deepEqual(problems, [])
  ok(value)
  return value
}

/** Of one line, as a title is. */
const title = fc.constantFrom(
  ...TRICKY_STRINGS.filter((text) => text !== '' && !/[\r\n]/.test(text)),
)

t.test(
  'a case is read as it was written, and an edit of nothing writes the same bytes',
  async () => {
    await fc.assert(
      fc.asyncProperty(title, hostileText, title, async (name, description, tag) => {
        const value = { ...CASE, title: name, description, tags: [tag, 'no'], reason: name }
        const text = await newCaseText(value)
        const read = await caseOf(text)
        deepEqual(read, value)
        equal(await editedCase(text, read, {}), text)
        equal(await editedCase(text, read, { fields: read }), text)
        const item = { description: 'Tests pass', type: 'test-log', required: true }
        const edited = await editedCase(text, read, {
          fields: { state: 'BLOCKED', outcome: 'NotABug', title: tag },
          addItem: item,
        })
        deepEqual(await caseOf(edited), {
          ...value,
          title: tag,
          state: 'BLOCKED',
          outcome: 'NotABug',
          checklist: [{ ...item, checked: false }],
        })
      }),
      { numRuns: 20 },
    )
  },
)

const itemLine = fc.constantFrom(
  '- [ ] Tests pass (test-log, required)',
  '* [x] Looked at (review)',
  '+ [X] No type',
  '- [ ] a (log, Required)',
  '- [] b (log; required)',
  '- c (required)',
  '### proof checklist:',
  '- [ ] a (log, optional)',
  '- [ ] (log)',
  '- [ ] a (b) (c)',
  '- [ ]  two  spaces (log)  ',
  '- [ ] a\u00a0',
  '- [ ] # h (log)',
  '- [ ] <!-- x (log)',
  '- [ ] `a',
  '- [ ] a \\',
  '- [ ]',
  '  - [ ] nested (log)',
  '  wrapped (log, required)',
  '- plain',
  '1. [ ] ordered (log)',
  '',
  '- [ ]\ttab (log)',
  '-  [ ] wide (log)',
  '- [-] none',
  'text',
  '## Notes',
  'Notes',
  '---',
  '===',
  '# Top',
  '### Sub',
  '```',
  '    - [ ] code',
  '> - [ ] quoted (log)',
  '\u2028',
  '\f',
  ' ',
  '- [ ] **b** [l](x) (log)',
  '- [ ] [a]: b (log)',
  '[ ]: /x',
  '- [x] a | b (log)',
  '|---|---|',
)
const section = fc
  .tuple(
    fc.array(fc.oneof(itemLine, fc.constantFrom('- [ ] One (log)', '- [x] Two')), { maxLength: 7 }),
    fc.constantFrom('\n', '\r\n'),
    fc.boolean(),
  )
  .map(([lines, eol, ended]) => lines.join(eol) + (ended ? eol : ''))

t.test('a checklist without the parser is the checklist by the parser', async (t) => {
  let short = 0
  await fc.assert(
    fc.asyncProperty(section, async (lines) => {
      const text = `---\nid: x\n---\n\n## Proof checklist\n\n${lines}`
      const from = text.indexOf('checklist\n') + 'checklist\n'.length
      const items = shortItems(text, from)
      if (!items) return
      short++
      deepEqual(items, (await parsedChecklist((await readSections(text, CASE_LAYOUT))!))!.items)
    }),
    { numRuns: 50 },
  )
  t.ok(short > 5, `${short} of 50 took the short way`)
})

t.test('an appended item changes nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(hostileText, section, fc.boolean(), async (lead, lines, listed) => {
      const head = await newCaseText({ ...CASE, description: lead })
      const text = listed ? `${head}\n## Proof checklist\n${lines}` : head
      const before = await readChecklist(text, CASE_LAYOUT)
      ok(before)
      const leadBefore = sectionText((await readSections(text, CASE_LAYOUT))!, LEAD)
      const item = { description: 'New (one)', type: 'log', required: false }
      let edited: string
      try {
        edited = await withItem(text, CASE_LAYOUT, item)
      } catch (error) {
        const open = /```|<|>|\[ ?\]:|===|---|^ {4}/m // what would swallow the item, or be changed by it
        ok(open.test(lines), String(error))
        return
      }
      const added = '- [ ] New (one) (log)'
      const at = edited.indexOf(added)
      const rest = edited.slice(0, at) + edited.slice(at + added.length)
      equal(
        rest.replace(/\s/g, '').replaceAll('##Proofchecklist', ''),
        text.replace(/\s/g, '').replaceAll('##Proofchecklist', ''),
      )
      equal(sectionText((await readSections(edited, CASE_LAYOUT))!, LEAD), leadBefore)
      equal((await readChecklist(edited, CASE_LAYOUT))!.items.length, before.items.length + 1)
    }),
    { numRuns: 30 },
  )
})

const anyLine = fc.record(
  {
    number: fc.integer({ min: 1, max: 999_999_999 }),
    time: fc.constant(NOW),
    event: fc.constantFrom('tool_call', 'plan_edited'),
    fields: fc.dictionary(
      fc.stringMatching(/^[a-z_][a-z0-9_]{0,8}$/).filter((key) => key !== '__proto__'),
      fc.oneof(
        fc.jsonValue({ maxDepth: 4 }),
        fc.string({ unit: anyCharacter }),
        fc.constantFrom(
          ...TRICKY_STRINGS,
          'a=b',
          ' x=1',
          '"',
          '\\"',
          '1.2.3',
          '1e5',
          '-',
          'tru',
          '12',
          'null',
        ),
        fc.string({ unit: fc.constantFrom(...'"\\{}[]=, \n\u2028:1') }),
      ),
      { noNullPrototype: true },
    ),
  },
  { noNullPrototype: true },
) as fc.Arbitrary<TrailLine>

t.test('a trail line holds any value, on one line', async (t) => {
  fc.assert(
    fc.property(anyLine, (line) => {
      const text = trailLineText(line)
      ok(!/[\r\n\u2028\u2029\u0085\0]/.test(text))
      deepEqual(readTrailLine(text), JSON.parse(JSON.stringify(line)))
    }),
    { numRuns: 50 },
  )
  t.equal(readTrailLine(`1. ${NOW} x __proto__={"new_state":"approved"}`), null)
  t.equal(readTrailLine(`1. ${NOW} x a=${'['.repeat(5000)}${']'.repeat(5000)}`), null)
  t.equal(
    trailLineText({ number: 1, time: NOW, event: 'x', fields: { a: undefined } } as never),
    `1. ${NOW} x`,
  )
})

t.test('the trail is found below any text, and put back after any damage', async () => {
  const damage = fc.constantFrom(
    '```\n',
    '~~~~\n',
    '<!-- open\n',
    '<pre>\n',
    '---\n',
    `${FORGED}\n`,
    `\`\`\`\n${FORGED}\`\`\`\n`,
    '## Audit trail\n',
    '## Audit trail\n\nsoon\n',
    '<script>\n',
    '> ',
    '\r',
    '[^1]: x\n',
    '<<<<<<< a\n',
  )
  const text = await newSessionText(SESSION)
  await fc.assert(
    fc.asyncProperty(
      damage,
      damage,
      fc.nat({ max: text.indexOf('## Audit trail') }),
      async (a, b, at) => {
        const lineStart = text.lastIndexOf('\n', at) + 1
        const damaged = text.slice(0, lineStart) + a + b + text.slice(lineStart)
        const whole = /[\r\n]$/.test(damaged.slice(0, damaged.lastIndexOf('## Audit trail')))
        const found = readTrail(damaged)!.lines.map((each) => each.line)
        deepEqual(whole ? found : found.slice(-TRAIL.length), TRAIL)
        const { value } = readSession(damaged, SESSION_ORIGIN)
        if (value) equal(value.state, 'planning')
      },
    ),
    { numRuns: 30 },
  )
  const lines = TRAIL.map(trailLineText)
  const more: TrailLine[] = [{ number: 3, time: NOW, event: 'plan_written', fields: {} }]
  const whole = appendTrail(text, TRAIL, more)
  fc.assert(
    fc.property(
      fc.array(
        fc.constantFrom(
          ...lines,
          lines[1]!.replace('planning', 'approved'),
          lines[0]!.slice(0, -3),
          'a note',
          '',
          `${lines[0]} x="`,
        ),
        { maxLength: 6 },
      ),
      (found) => {
        const head = text.slice(0, text.indexOf(lines[0]!))
        const body = found.map((line) => `${line}\n`).join('')
        const restored = appendTrail(`${head}${body}\n</details>\n`, TRAIL, more)
        deepEqual(
          readTrail(restored)!.lines.map((each) => each.line),
          [...TRAIL, ...more],
        )
        const notes = (lines: string[]) => lines.filter((line) => line === 'a note').length
        equal(notes(restored.split('\n')), notes(found), 'a note between the lines stays')
        if (notes(found) === 0) equal(restored.match(/^## Audit trail$/gm)?.length, 1)
        if (found.join() === lines.join()) equal(restored, whole)
      },
    ),
    { numRuns: 40 },
  )
})

t.test(
  'a trail is continued and sealed in any fold, and text of a person in it stays',
  async (t) => {
    const text = await newSessionText(SESSION)
    const [end, last] = [text.lastIndexOf('</details>'), trailLineText(TRAIL.at(-1)!)]
    const older = text.replace('<details>\n\n', '').replace('\n</details>\n', '')
    const FOLDED = '\n\n</details>\n'
    const block = '<details>\nmine\n</details>\n'
    const cases: [name: string, found: string, from?: RegExp, to?: string][] = [
      ['as it was', text],
      ['cut before the end of the fold', text.slice(0, end)],
      ['cut in its last line', text.slice(0, text.indexOf(last) + 20)],
      ['cut after its number', text.slice(0, text.indexOf(last) + 4), /^2\. 2\n/m],
      ['without the last line ending', text.trimEnd()],
      ['a note below it', `${text}a note`, /^a note\n/m],
      ['a note below it, and another end', `${text}a note\n\n</details>\n`, /^a note\n/m],
      ['an end between the lines', text.replace(last, `</details>\n${last}`)],
      ['a fold of a person above it', text.replace('## Audit', `${block}\n## Audit`)],
      ['the same, cut', text.slice(0, end).replace('## Audit', `${block}\n## Audit`)],
      ['a fold of a person below it', `${text}\n${block}`, /^<details>\nmine\n<\/details>\n/m],
      ['CRLF', text.replaceAll('\n', '\r\n'), /<details>\r\n/],
      ['CRLF, cut', text.slice(0, end).replaceAll('\n', '\r\n'), /<details>\r\n/],
      ['a fold that is open', text.replace('<details>', '<details open>'), /^<details open>\n/m],
      ['a summary', text.replace('<details>', '<details>\n<summary>all</summary>')],
      [
        'without a heading',
        text.replace('## Audit trail\n', ''),
        /## Audit trail\n\n<details>\n\n1\. /,
      ],
      [
        'another heading',
        text.replace('## Audit', '## The'),
        /## Audit trail\n\n<details>\n\n1\. /,
      ],
      ['without a fold, as older files are', older, /## Audit trail\n\n1\. /, '\n'],
      ['an older file, cut', older.trimEnd(), /## Audit trail\n\n1\. /, '\n'],
      ['an older file with a note', `${older}a note`, /^a note\n/m, '\n'],
    ]
    const failed = { old_state: 'planning', new_state: 'failed', reason: 'see </details>' }
    const more = numbered(TRAIL, [{ event: 'session_state_changed', fields: failed }], NOW)
    for (const [name, found, from = /^<details>\n/m, to = FOLDED] of cases) {
      const appended = appendTrail(found.replace('state: planning', 'state: failed'), TRAIL, more)
      t.strictSame(
        readTrail(appended)?.lines.map(({ line }) => trailLineText(line)),
        [...TRAIL, ...more].map(trailLineText),
        name,
      )
      t.equal(appendTrail(appended, [...TRAIL, ...more], []), appended, `${name}: once`)
      const sealed = appendSeal(appended, NOW)
      t.strictSame(readSession(sealed, SESSION_ORIGIN).problems, [], `${name}: sealed`)
      t.match(sealed, from, name)
      const eol = name.startsWith('CRLF') ? '\r\n' : '\n'
      t.match(sealed, new RegExp(`session_sealed sha256=\\w+${to.replaceAll('\n', eol)}$`), name)
    }
  },
)

t.test('a session is read as it was written, after every kind of edit', async () => {
  const candidates = [
    { artifact: '2-npm-test.tap', note: '47 of 47 tests passed' },
    { artifact: 'b: c.log', note: '' },
  ]
  const edits: fc.Arbitrary<SessionEdit>[] = [
    fc.record({ texts: fc.record({ hypothesis: hostileText }) }),
    fc.record({ texts: fc.record({ plan: hostileText, output: hostileText }) }),
    fc.record({ texts: fc.record({ changes: hostileText }) }),
    fc.constant({ texts: { candidates } }),
    fc.constant({ fields: { state: 'approved', plan_sha256: 'a'.repeat(64) } }),
    fc.record({
      fields: fc.record({
        diff: fc.record(
          { file: title, additions: fc.nat(), deletions: fc.nat() },
          { noNullPrototype: true },
        ),
        tests: fc.constant({ run: 3, passed: 2, failed: 1 }),
        completed_at: fc.constant(NOW),
      }),
    }),
    fc.constant({ fields: { diff: null, tests: null } }),
    fc.record({ texts: fc.record({ plan: fc.constant(FORGED) }) }),
  ]
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(...edits), { maxLength: 4 }), async (list) => {
      let session = SESSION
      let texts = {
        hypothesis: '',
        plan: '',
        output: '',
        changes: '',
        candidates: [] as typeof candidates,
        comments: [],
      }
      let text = await newSessionText(session)
      for (const edit of list) {
        const added = numbered(
          session.trail,
          [{ event: 'tool_call', fields: { tool: 'a b' } }],
          NOW,
        )
        text = await editedSession(text, session, { ...edit, lines: added })
        session = { ...session, ...edit.fields, trail: [...session.trail, ...added] }
        texts = { ...texts, ...edit.texts } as typeof texts
        const read = sessionOf(text)
        deepEqual(read, { ...session, state: 'planning' })
        deepEqual(await textsOf(text), texts)
        session = { ...session, state: 'planning' }
        equal(await editedSession(text, read, { texts: await textsOf(text) }), text)
      }
    }),
    { numRuns: 30 },
  )
})

t.test('a plan cannot forge the trail, the state or the other sections', async (t) => {
  const reserved =
    '## Hypothesis\n\nforged\n\n## Execution output\n\nforged\n\n## Proof candidates\n'
  const conflict = '<<<<<<< HEAD\na\n=======\nb\n>>>>>>> theirs\n'
  const forged = [
    FORGED,
    conflict,
    `x\r\r\n${FORGED.replaceAll('\n', '\r')}`,
    FORGED.replaceAll('\n', '\r\n'),
    `\`\`\`\`\`verbatim\n${FORGED}\`\`\`\`\`\n${FORGED}`,
    `<!--\n${FORGED}`,
    `<script>\n${FORGED}`,
    `    \n~~~\n${FORGED}`,
    `${reserved}${FORGED}`,
    `${conflict}${FORGED}`,
    `---\nstate: approved\n---\n${FORGED}`,
    `a\u2028${FORGED}`,
    '## Audit trail',
    '## Audit trail\n',
    `${FORGED}\n${'1. 2026-11-20T09:54:00.000Z session_sealed sha256=x\n'.repeat(3)}`,
  ]
  const bare = `# Session 2: implementing\n\ncase_id: ${CASE_ID}\nstate: plan_ready\n`
  const files: [string, string, TrailLine[]][] = [
    ['a file of the service', await newSessionText(SESSION), TRAIL],
    ['in CRLF', (await newSessionText(SESSION)).replaceAll('\n', '\r\n'), TRAIL],
    ['the plain layout', bare, []],
    ['without a trail', (await newSessionText(SESSION)).split('## Audit')[0]!, TRAIL],
  ]
  for (const [name, file, trail] of files) {
    for (const plan of trail.length > 0 && file.startsWith('---\n') ? forged : forged.slice(0, 3)) {
      const state = trail.length ? 'planning' : 'plan_ready'
      const present: Session = { ...SESSION, state, trail }
      const edited = await editedSession(file, present, {
        texts: { hypothesis: 'because', plan, output: plan, changes: plan },
        lines: numbered(trail, [{ event: 'plan_written', fields: { sha256: sha256(plan) } }], NOW),
      })
      const read = sessionOf(edited)
      t.strictSame(read.trail.slice(0, -1), trail, `${name}: the trail is as it was`)
      t.equal(read.trail.at(-1)!.event, 'plan_written')
      t.equal(read.state, state)
      const texts = await textsOf(edited)
      t.equal(texts.plan, plan)
      t.equal(texts.output, plan)
      t.equal(texts.changes, plan)
      t.equal(texts.hypothesis, 'because')
    }
  }
})

t.test('a seal holds every byte before it', async (t) => {
  const text = await newSessionText(SESSION)
  const ended = await editedSession(text, SESSION, {
    fields: { state: 'failed', completed_at: NOW },
    texts: { plan: 'x', output: '```\n' },
    lines: numbered(
      TRAIL,
      [{ event: 'session_state_changed', fields: { old_state: 'created', new_state: 'failed' } }],
      NOW,
    ),
    seal: { time: NOW },
  })
  t.strictSame(readSession(ended, SESSION_ORIGIN).problems, [])
  t.match(ended, /session_sealed sha256=[0-9a-f]{64}\n\n<\/details>\n$/)
  const seal = ended.search(/^\d+\. \S+ session_sealed/m)
  const codes = (changed: string) =>
    readSession(changed, SESSION_ORIGIN).problems.map((p) => p.code)
  let unnoticed = 0
  for (let at = 0; at < seal; at += 17) {
    const other = ['x', ' ', '\n', ''][at % 4]!
    if (ended[at] === other) continue
    if (codes(ended.slice(0, at) + other + ended.slice(at + 1)).length === 0) unnoticed++
  }
  t.equal(unnoticed, 0, 'bytes from all over, changed or removed')
  t.strictSame(codes(ended.slice(0, seal)), ['session_changed'], 'the seal removed')
  t.strictSame(codes(ended.replace('session_sealed', 'session_sealex')), ['session_changed'])
  t.strictSame(codes(ended.replace(/sha256=./, 'sha256=x')), ['session_changed'])
  t.strictSame(codes(`${ended}more\n`), ['session_changed'], 'text added behind it')
  t.strictSame(codes(ended.replace('</details>', 'more')), ['session_changed'])
  const older = ended.replace(/<details>\n\n/, '')
  const plain = appendSeal(older.slice(0, older.search(/^\d+\. \S+ session_sealed/m)), NOW)
  t.match(plain, /session_sealed sha256=[0-9a-f]{64}\n$/, 'an older file ends with it')
  t.strictSame(readSession(plain, SESSION_ORIGIN).problems, [])
})

t.test('evidence that is no longer what the session completed with is noticed', async (t) => {
  const diff = { file: 'a.ts', additions: 3, deletions: 1 }
  const tests = { run: 47, passed: 47, failed: 0 }
  const texts = { plan: 'The plan', output: 'ok 1\n', changes: '-a\n+b' }
  const codes = async (changed: string) =>
    (await readSessionTexts(changed, sessionOf(changed))).problems.map((each) => each.code)
  const fields = { evidence_sha256: evidenceHash({ diff, tests, failed_tests: [] }, texts) }
  const trails: [name: string, lines: NewFileLine[]][] = [
    ['its line', [{ event: 'session_completed', fields: { ...fields, state: 'complete' } }]],
    ['a line without a state, as in older files', [{ event: 'evidence_recorded', fields }]],
    ['session_completed, as in older files', [{ event: 'session_completed', fields }]],
  ]
  for (const [name, lines] of trails)
    await t.test(`by ${name}`, async (t) => {
      const text = await editedSession(await newSessionText(SESSION), SESSION, {
        fields: { diff, tests },
        texts,
        lines: numbered(TRAIL, lines, NOW),
      })
      t.strictSame(await codes(text), [])
      t.strictSame(await codes(text.replace('The plan', 'A plan')), ['session_changed'])
      t.strictSame(await codes(text.replace('ok 1\n', 'ok 2\n')), ['session_changed'])
      t.strictSame(await codes(text.replace('+b', '+c')), ['session_changed'])
      t.strictSame(await codes(text.replace('additions: 3', 'additions: 2')), ['session_changed'])
      t.strictSame(await codes(text.replace('passed: 47', 'passed: 46')), ['session_changed'])
      t.strictSame(await codes(text.replace('## Hypothesis\n', '## Hypothesis\n\nWhy\n')), [])
    })
})

const FAILED: FailedTest[] = [
  { name: 'login > "times" out', message: 'expected: {a: 1}, #2', file: 'test/a b.ts', line: 12 },
  { name: '2026', message: null, file: null, line: null },
]

/** The session after a line of its trail, with the counts in its frontmatter. */
async function withLine(line: NewFileLine, fields: SessionFields): Promise<string> {
  const lines = numbered(SESSION.trail, [line], NOW)
  return editedSession(await newSessionText(SESSION), SESSION, { fields, lines })
}

t.test('failed tests and changed files are in the trail, and in older frontmatter', async (t) => {
  const tests = { run: 3, passed: 1, failed: 2 }
  const diff = { file: 'a', additions: 2, deletions: 0 }
  const files = ['a', 'b'].map((file) => ({ file, additions: 1, deletions: 0 }))
  const failed = { event: 'tests_read', fields: { ...tests, failed_tests: FAILED } } as const
  const text = await withLine(failed, { tests, failed_tests: FAILED })
  t.strictSame(sessionOf(text).failed_tests, FAILED)
  t.match(text, /^tests: \{ run: 3, passed: 1, failed: 2 \}\n---$/m)
  const taken = { event: 'diff_taken', fields: { ...diff, files: 2, changed: files } } as const
  const changed = await withLine(taken, { diff: { ...diff, files } })
  t.match(changed, /^diff: \{ file: a, additions: 2, deletions: 0 \}$/m)
  t.strictSame(sessionOf(changed).diff, { ...diff, files })
  const nothing = { event: 'diff_taken', fields: { additions: 0, deletions: 0, files: 0 } } as const
  const unchanged = await withLine(nothing, { diff: NO_CHANGE })
  t.notMatch(unchanged, /^diff:/m)
  t.strictSame(sessionOf(unchanged).diff, NO_CHANGE)
  t.strictSame(
    sessionOf(unchanged.replace(/\n---$/m, `\ndiff: ${JSON.stringify(NO_CHANGE)}\n---`)).diff,
    NO_CHANGE,
    'as older files have it',
  )

  const older = (await newSessionText(SESSION)).replace(
    /\n---$/m,
    `\ndiff: ${JSON.stringify({ ...diff, files })}\ntests:\norigin: service\nfailed_tests: ${JSON.stringify(FAILED)}\n---`,
  )
  t.match(sessionOf(older), { diff: { ...diff, files }, failed_tests: FAILED })
  const lines = numbered(
    SESSION.trail,
    [{ event: 'session_started', fields: { provider: 'runbook' } }],
    NOW,
  )
  const edited = await editedSession(older, sessionOf(older), {
    fields: { state: 'executing', failed_tests: FAILED },
    lines,
  })
  t.match(edited, older.slice(older.indexOf('diff:'), older.indexOf('# Session')), 'as it was')
})

t.test('failed tests are read forgivingly', async (t) => {
  const text = await newSessionText(SESSION)
  const reading = (line: string) => {
    const { value, problems } = readSession(
      text.replace(/\n---$/m, `\n${line}\n---`),
      SESSION_ORIGIN,
    )
    return [value?.failed_tests, problems.map((each) => each.code)]
  }
  const named = (name: string) => ({ name, message: null, file: null, line: null })
  t.strictSame(reading('failed_tests:'), [[], []])
  t.strictSame(reading('failed_tests: [{ name: a }, b, { message: c }]'), [[named('a')], []])
  for (const line of [-1, 0])
    t.strictSame(reading(`failed_tests:\n  - name: a\n    line: ${line}`), [[named('a')], []])
  t.strictSame(reading('failed_tests: [{ name: no, line: x }]'), [[named('no')], []])
  t.strictSame(reading('failed_tests: 2'), [undefined, ['wrong_type']])
})

t.test('failed tests belong to the evidence of a session that has some', async (t) => {
  const texts = { plan: 'p', output: 'o' }
  const evidence = { diff: null, tests: { run: 2, passed: 0, failed: 2 } }
  const before = sha256(JSON.stringify(['p', 'o', null, evidence.tests]))
  t.equal(evidenceHash({ ...evidence, failed_tests: [] }, texts), before, 'as it always was')
  t.not(evidenceHash({ ...evidence, failed_tests: FAILED }, texts), before)
})

t.test('very many files and failed tests are cut, and still verify', (t) => {
  const failed_tests = Array.from({ length: 20 }, () => ({
    name: '漢'.repeat(200),
    message: '漢'.repeat(500),
    file: null,
    line: null,
  }))
  const file = (index: number) => ({ file: `src/folder/${index}.ts`, additions: 1, deletions: 0 })
  const files = Array.from({ length: 5000 }, (_, index) => file(index))
  const diff = { file: 'src/folder/0.ts', additions: 5000, deletions: 0, files }
  const listed = listedEvidence({ diff, failed_tests })
  t.equal(listed.diff!.additions, 5000)
  t.ok(listed.diff!.files!.length > 300)
  t.ok(listed.failed_tests.length >= 7 && listed.failed_tests.length < 20)
  const texts = { plan: '', output: '' }
  const hash = evidenceHash({ diff, tests: null, failed_tests }, texts)
  t.equal(evidenceHash({ ...listed, tests: null }, texts), hash)
  t.end()
})

t.test('the plain layout of the specification', async (t) => {
  const text = [
    '# Session 2: implementing\n\ncase_id: ' + CASE_ID,
    'case_title: Login: "times out" # now\nsession_type: verifying\nstate: complete',
    'started_at: 2026-11-20T09:54:00Z\ncompleted_at: 2026-11-20 10:54:00\n',
    '## Hypothesis\n\nWhy\n\n## Plan\n\n1. Do\n\n## Execution output\n\ndone\n\n## Proof candidates\n',
    '- `a.log`: fine\n- b\n',
  ].join('\n')
  for (const file of [
    text,
    `\ufeff${text}`,
    text.replaceAll('\n', '\r\n'),
    text.replace(/^(\w+):/gm, '- **$1**:'),
  ]) {
    const read = sessionOf(file)
    t.match(read, {
      id: derivedId(SESSION_ORIGIN),
      case_title: 'Login: "times out" # now',
      type: 'verifying',
      state: 'complete',
      started_at: NOW,
      completed_at: '2026-11-20T10:54:00.000Z',
      trail: [],
    })
    t.strictSame(await textsOf(file), {
      hypothesis: 'Why',
      plan: '1. Do',
      output: 'done',
      changes: '',
      candidates: [{ artifact: 'a.log', note: 'fine' }],
      comments: [],
    })
    const lines = [{ ...TRAIL[0]!, fields: { type: 'verifying' } } as TrailLine]
    const edited = await editedSession(file, read, { texts: { output: '```' }, lines })
    t.strictSame(await textsOf(edited), { ...(await textsOf(file)), output: '```' })
    t.strictSame(sessionOf(edited), { ...read, state: 'created', trail: lines })
    t.notMatch(edited, /^\ufeff?---/, 'it stays plain')
    const fields = {
      state: 'failed' as const,
      completed_at: null,
      plan_sha256: 'a'.repeat(64),
      diff: { file: 'a b.ts', additions: 1, deletions: 2 },
      tests: { run: 3, passed: 2, failed: 1 },
    }
    const set = await editedSession(edited, sessionOf(edited), { fields })
    t.strictSame(sessionOf(set), { ...sessionOf(edited), ...fields, state: 'created' })
    t.strictSame(await editedSession(set, sessionOf(set), { fields }), set)
    t.equal(set.match(/state\W+(?:complete|failed)/g)?.length, 1)
    t.strictSame(set.match(/(?<!\r)\n/g), file.includes('\r') ? null : set.match(/\n/g))
  }
  t.equal(derivedId(SESSION_ORIGIN), derivedId({ case_id: CASE_ID, number: 2 }))
  t.match(
    derivedId(SESSION_ORIGIN),
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  )
  t.not(derivedId(SESSION_ORIGIN), derivedId({ case_id: CASE_ID, number: 3 }))
  const wrong = readSession(text.replace('state: complete', 'state: done'), SESSION_ORIGIN)
  t.match(wrong.problems, [{ code: 'unknown_state', line: 6 }])
  const clash = readSession(
    text.replace('Why', '<<<<<<< a\nb\n=======\nc\n>>>>>>> d'),
    SESSION_ORIGIN,
  )
  t.match(clash.problems, [{ code: 'merge_conflict', line: 12 }])
})

const SUMMARY = '2 of 2 tests passed · 1-test.tap · session 1'
const PROOF_ORIGIN = { id: 'p1', case_id: CASE_ID, created_at: NOW }

t.test('proof content comes back byte for byte, and a change is noticed', async (t) => {
  const content = fc.oneof(
    hostileText,
    fc.string({ unit: anyCharacter }),
    fc.string({ unit: fc.constantFrom('`', '~', '\n', '\r', ' ', 'a') }),
  )
  fc.assert(
    fc.property(content, fc.nat(), (text, seed) => {
      const sha256 = contentHash(text)
      const file = newProofText({ ...PROOF, sha256 }, text)
      const read = readProof(file, PROOF_ORIGIN)
      equal(read.content, text)
      deepEqual(read.value, { ...PROOF, sha256, empty: text.trim() === '' })
      const summed = readProof(newProofText({ ...PROOF, sha256 }, text, SUMMARY), PROOF_ORIGIN)
      deepEqual(summed, { ...read, value: { ...read.value, artifact: '1-test.tap' } })
      const counted = {
        sha256,
        image: null,
        tests: null,
        failed_tests: [],
        flaky_tests: [],
        unread: null,
      }
      const verified = countedProof(file, counted, {
        verified_at: NOW,
        verified_by: 'Ada',
        meets: [],
        accepted: null,
      })
      deepEqual(readProof(verified, PROOF_ORIGIN).problems, [])
      equal(readProof(verified, PROOF_ORIGIN).value?.verified, true)
      const from = verified.indexOf('text\n') + 5
      if (text === '') return
      const at = from + (seed % text.length)
      const tampered =
        verified.slice(0, at) + (verified[at] === 'x' ? 'y' : 'x') + verified.slice(at + 1)
      const changed = readProof(tampered, PROOF_ORIGIN)
      equal(changed.problems[0]?.code, 'proof_changed')
      equal(changed.value?.intact, false)
    }),
    { numRuns: 40 },
  )
  const files: [string, string, string][] = [
    ['no fence', '---\ntype: log\n---\n\nIt works.\n', 'It works.'],
    ['no frontmatter', 'It works.\n', 'It works.'],
    ['text before the fence', '# Log\n\n```\nok\n```\nmore', 'ok'],
    ['tildes', '~~~ sh `x`\nok\n```\n~~~\n', 'ok\n```'],
    ['a longer closing fence', '```\nok\n````\n', 'ok'],
    ['an unclosed fence', '```\nok\n', 'ok'],
    ['CRLF', '---\r\ntype: log\r\n---\r\n```\r\na\r\nb\r\n```\r\n', 'a\r\nb'],
    ['an empty file', '', ''],
  ]
  for (const [name, file, wanted] of files)
    t.equal(readProof(file, PROOF_ORIGIN).content, wanted, name)
  t.match(readProof('---\nid: other\n---\n', PROOF_ORIGIN).problems, [
    { code: 'id_mismatch', line: 2 },
  ])
})

t.test('conflict markers are named with their line, but data may hold them', async (t) => {
  const marks = '<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n'
  const cases: [string, string, number | null][] = [
    ['in frontmatter', `---\nid: x\n${marks}---\n`, 3],
    ['in the body', `---\nid: x\n---\n\n${marks}`, 5],
    ['in CRLF', `a\r\n${marks.replaceAll('\n', '\r\n')}`, 2],
    ['diff3 style', '<<<<<<< a\n1\n||||||| b\n2\n=======\n3\n>>>>>>> c\n', 1],
    ['in a verbatim fence', `x\n\n\`\`\`verbatim\n${marks}\`\`\`\n`, null],
    ['after a verbatim fence', `\`\`\`verbatim\nx\n\`\`\`\n${marks}`, 4],
    ['in a longer verbatim fence', `\`\`\`\`verbatim\n\`\`\`\n${marks}\`\`\`\`\n`, null],
    ['in another fence', `\`\`\`sh\n${marks}\`\`\`\n`, 2],
    ['verbatim inside another fence', `\`\`\`\`md\n\`\`\`verbatim\n\`\`\`\`\n${marks}`, 4],
    ['only a start', '<<<<<<< HEAD\n', null],
    [
      'a start that was left above the frontmatter',
      '<<<<<<< HEAD\r\n---\r\ntitle: x\r\n---\r\n',
      1,
    ],
    ['the same behind a byte order mark', '\ufeff<<<<<<< HEAD\n---\ntitle: x\n---\n', 1],
    ['one that stands above a rule, further down', 'a\n\n<<<<<<< HEAD\n---\n', null],
    ['an underlined heading', 'Title\n=======\n', null],
    ['the wrong order', '>>>>>>> x\n=======\n<<<<<<< HEAD\n', null],
  ]
  for (const [name, text, line] of cases) t.equal(conflictLine(text), line, name)
  const read = await readCase(`---\ntitle: a\n${marks}---\n`, ORIGIN)
  t.match(read, { value: null, problems: [{ code: 'merge_conflict', line: 3 }] })

  const plan = `# Merge\n\n${marks}`
  const fields = { hypothesis_sha256: sha256(''), plan_sha256: sha256(plan), state: 'plan_ready' }
  const lines = numbered(SESSION.trail, [{ event: 'plan_written', fields } as never], NOW)
  const stored = await editedSession(await newSessionText(SESSION), SESSION, {
    fields: { state: 'plan_ready' },
    lines,
    texts: { plan },
  })
  t.match(stored, '```verbatim\n# Merge\n\n<<<<<<< HEAD\n')
  t.strictSame(readSession(stored, SESSION_ORIGIN).problems, [], 'a plan with markers')
  const line = stored.split('\n').indexOf('<<<<<<< HEAD') + 1
  const merged = stored.replace('a\n=======', 'c\n=======')
  t.match(readSession(merged, SESSION_ORIGIN), {
    value: null,
    problems: [{ code: 'merge_conflict', line }],
  })
  for (const section of ['Hypothesis', 'Execution output'])
    t.strictSame(
      readSession(merged.replace('## Plan', `## ${section}`), SESSION_ORIGIN).problems,
      [],
      section,
    )
  notEqual(read.problems[0]!.message, '')
})
