import t from 'tap'
import { CASE_LAYOUT, editedCase, readCase, roughCase } from '../../src/markdown/case-file.ts'
import { withItem, withTicks } from '../../src/markdown/checklist.ts'
import { useParser } from '../../src/markdown/parser-pool.ts'
import { readProof } from '../../src/markdown/proof-file.ts'
import { readSession } from '../../src/markdown/session-file.ts'
import { newSessionText } from '../../src/markdown/session-texts.ts'
import { readSettings } from '../../src/markdown/settings-file.ts'
import { CASE_ID, NOW, SESSION } from '../fixtures/records.ts'

t.teardown(useParser())

const ORIGIN = { id: CASE_ID, created_at: '2026-01-02T03:04:05.678Z' }

t.test('a checklist that only nearly has its form is read as meant', async (t) => {
  const item = { description: 'x', type: 'test-log', required: true, checked: false }
  const headings = [
    '## Proof Checklist',
    '### Proof checklist',
    '## Proof checklist:',
    '#### proof-checklist',
    '## **Proof checklist**',
    ' ## Proof Checklist ##',
  ]
  for (const heading of headings) {
    for (const eol of heading === headings[0] ? ['\n', '\r\n'] : ['\n']) {
      const text = [
        'Words',
        '',
        heading,
        '',
        '- [ ] x (test-log, required)',
        '',
        '## Notes',
        '',
      ].join(eol)
      const read = await readCase(text, ORIGIN)
      t.same([read.value?.checklist, read.problems], [[item], []], heading)
      t.equal(read.value?.description, 'Words')
      const added = await withItem(text, CASE_LAYOUT, {
        description: 'y',
        type: 'log',
        required: false,
      })
      t.equal(added, text.replace(`required)${eol}`, `required)${eol}- [ ] y (log)${eol}`), 'added')
    }
  }
  const lines = [
    '- [ ] x (test-log, Required)',
    '- [ ] x (test log, required)',
    '- [ ] x (test-log; required)',
    '- [] x (test-log, required)',
    '- x (test-log, required)',
    '- [ ]  x (Test-Log,required)',
    '- [ ] x [test-log, required]',
    '1. [ ] x (test-log required)',
    '* x (`test-log`, **required**)',
    '- [ ] x (test-log, required',
    '- [ ] x\n  (test-log,\n  required)',
    '- [ ]x (test-log, required)',
  ]
  for (const line of lines) {
    const read = await readCase(`## Proof checklist\n\n${line}\n`, ORIGIN)
    t.same([read.value?.checklist, read.problems], [[item], []], line)
  }
})

t.test(
  'what says "required" and can be read in several ways is a problem, and never optional',
  async (t) => {
    const list = (line: string) => `---\nid: ${ORIGIN.id}\n---\n\n## Proof checklist\n\n${line}\n`
    const texts: [text: string, line: number][] = [
      ...[
        '- [ ] x (required)',
        '- [ ] (required)',
        '- [ ] x (test-log, trace, required)',
        '- [ ] x (my own check, required)',
        '- [ ] x (required, optional, log)',
        '- [ ] x (test-log, requird)',
        '- [ ] x (log, required) (urgent)',
        '- [ ] x: log, required',
        '- x (required)',
        '-[ ] x (test-log, required)',
        'x (test-log, required)',
        '- [ ] x (log) required',
        '- [ ] x (required: log)',
        '- [ ] x (log, required?)',
        '- [ ] required: x',
        '| x | test-log | required |\n|---|---|---|',
      ].map((line): [string, number] => [list(line), 7]),
      ['Words\n\n- [ ] x (test-log, required)\n', 3],
      ['- x (test-log, required)\n', 1],
      ['# Proof checklist\n\n- [ ] x\n', 1],
      ['**Proof checklist:**\n\n- [ ] x\n', 1],
      ['Proof checklist\n---------------\n\n- [ ] x\n', 1],
      ['##Proof checklist\n- [ ] x\n', 1],
      ['## Proof checklist\n\n- [ ] a (log)\n\n## Proof checklist\n\n- [ ] b\n', 5],
      ['## Proof checklist\n\n- [ ] a (log)\n\n## Notes\n\n- [ ] b (log, required)\n', 7],
    ]
    for (const [text, line] of texts) {
      const { value, problems } = await readCase(text, ORIGIN)
      t.match(problems, [{ code: 'bad_checklist', file: 'case.md', line }], text)
      t.ok(
        value?.checklist.some(({ type, required }) => required && type === null),
        'no proof meets it',
      )
    }
  },
)

t.test('prose and lists that mention "required" are no checklist', async (t) => {
  const texts = [
    'A login is required.\n',
    '- [ ] Fill in the form (required)\n- [ ] All fields (name, mail, required)\n',
    '- the field is (mandatory)\n- name (string, required)\n',
    '| name | required |\n|---|---|\n| a | required |\n',
    '```\n- [ ] x (test-log, required)\n```\n',
    '<!--\n- [ ] x (test-log, required)\n-->\n',
    '> - [ ] x (test-log, required)\n',
    'See the proof checklist\n\n- one\n',
    '## Proof checklist\n\nEach of these is required:\n\n- [ ] A header is required\n- [ ] b (log)\n- note\n',
    '## Proof checklist\n\n- [ ] x (as required by RFC 7231)\n- [ ] y (if required)\n- [ ] z (optional)\n',
    'text (test-log, required)\n',
  ]
  for (const text of texts) {
    const { value, problems } = await readCase(text, ORIGIN)
    t.same(problems, [], text)
    t.notOk(value?.checklist.some(({ required }) => required))
  }
})

const FRONT = `id: ${CASE_ID}\ntitle: Login hangs\nstate: BLOCKED\ntags: [auth]\n`

t.test('frontmatter that is not at the top, or has lost a line, is a problem', async (t) => {
  const whole = `---\n${FRONT}---\n\nText\n`
  const texts: [name: string, text: string, line: number][] = [
    ['a blank line above', `\n${whole}`, 2],
    ['a BOM and a blank line', `\ufeff\n${whole}`, 2],
    ['indented', ` ${whole}`, 1],
    ['all lines indented', whole.replace(/^(?=.)/gm, '  '), 1],
    ['no opening line', whole.slice(4), 1],
    ['a dash too many', `-${whole}`, 1],
    ['a line of text above', `Hello\n${whole}`, 2],
    ['a heading above', `# Login hangs\n\n${whole}`, 3],
    ['no lines at all', `${FRONT}\nText\n`, 1],
    ['no closing line either', `\n---\n${FRONT}\nText\n`, 2],
  ]
  for (const [name, text, line] of texts) {
    const read = await readCase(text, ORIGIN)
    t.match(read, { value: null, problems: [{ code: 'bad_frontmatter', line }] }, name)
    const { title, state } = await roughCase(text, ORIGIN)
    if (name !== 'all lines indented') t.same([title, state], ['Login hangs', 'BLOCKED'], 'rough')
  }
  const damages: ((text: string) => string)[] = [
    (text) => `\n${text}`,
    (text) => ` ${text}`,
    (text) => text.slice(4),
  ]
  const proof = `---\nid: ${SESSION.id}\ncase_id: ${CASE_ID}\ntype: log\n---\n\n\`\`\`\nok\n\`\`\`\n`
  const place = { case_id: CASE_ID, number: 2, case_title: 'x', created_at: NOW }
  for (const damage of damages) {
    const session = damage(await newSessionText(SESSION))
    const wanted = { value: null, problems: [{ code: 'bad_frontmatter' }] }
    t.match(readSession(session, place), wanted, session.slice(0, 9))
    t.match(readProof(damage(proof), { ...place, id: SESSION.id }), wanted)
    t.match(readSettings(damage('---\nprovider: runbook\nenv: [A]\n---\n')), { ok: false })
  }
})

t.test('a text above a rule is no frontmatter', async (t) => {
  const texts: [text: string, title: string][] = [
    ['Login hangs\n---\n\nMore\n', 'Login hangs'],
    ['Login hangs.\nIt always does.\n\n---\n\nMore\n\n---\n', 'Login hangs.'],
    ['\n\n---\n\nLogin hangs\n\n---\n', '---'],
    ['# Login hangs\n\n---\n\nNote: see below\n\n---\n', 'Login hangs'],
    ['It hangs, and says:\nstate: broken\n---\n', 'It hangs, and says:'],
    ['title: of the page is wrong\n\nMore text\n', 'title: of the page is wrong'],
    ['# Login hangs\n\n```\nid: 1\ntitle: x\n---\n```\n', 'Login hangs'],
    ['Login hangs\n\n## How\n\nid: 1\nstate: x\n\n---\n', 'Login hangs'],
    ['- one\n---\n- two\n---\n', CASE_ID],
  ]
  for (const [text, title] of texts) {
    const { value, problems } = await readCase(text, ORIGIN)
    t.match([value?.title, problems], [title === '---' ? /./ : title, []], text)
    const edited = await editedCase(text, value!, { fields: { outcome: 'NotABug' } })
    t.same((await readCase(edited, ORIGIN)).value, { ...value, outcome: 'NotABug' }, 'and edited')
  }
  const plain = [
    '# Session 2: planning',
    '',
    'session_type: planning',
    'state: plan_ready',
    '',
    '---',
    '',
    '## Plan',
    '',
    'x',
    '',
  ].join('\n')
  const place = { case_id: CASE_ID, number: 2, case_title: 'x', created_at: NOW }
  t.match(readSession(plain, place), { value: { state: 'plan_ready', type: 'planning' } })
})

t.test('a tick changes the boxes of the named items, and nothing else', async (t) => {
  const open = [
    '---',
    'title: x',
    '---',
    '- [ ] Passes (log)',
    '',
    '## Proof checklist',
    '',
    '- [ ] Passes (log, required)  ',
    '  - [ ]  nested, and',
    '    wrapped (log)',
    '* [x] Was so (log)',
    '1. [ ]\tFirst: `- [ ] no` (log)',
    '- [] Rough (log)',
    '- Without a box (log, required)',
    '- [ ] Other (trace)',
    '',
    '## Mine',
    '',
    '- [ ] Passes (log)',
    '',
  ]
  const names = ['Passes', 'nested, and wrapped', 'First: `- [ ] no`', 'Rough', 'Without a box']
  const items = names.map((description) => ({
    description,
    type: 'log',
    required: true,
    checked: false,
  }))
  for (const eol of ['\n', '\r\n']) {
    const wanted = [...open]
    for (const line of [7, 8, 11]) wanted[line] = open[line]!.replace('[ ]', '[x]')
    wanted[12] = '- [x] Rough (log)'
    t.equal(await withTicks(open.join(eol), CASE_LAYOUT, items), wanted.join(eol))
  }
})
