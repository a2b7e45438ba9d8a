import t from 'tap'
import { CASE_LAYOUT, readCase } from '../../src/markdown/case-file.ts'
import { withItem } from '../../src/markdown/checklist.ts'
import { useParser } from '../../src/markdown/parser-pool.ts'
import { CASE_ID } from '../fixtures/records.ts'

t.teardown(useParser())

const ORIGIN = { id: CASE_ID, created_at: '2026-01-02T03:04:05.678Z' }

t.test('a checklist that only nearly has its form is read as meant', async (t) => {
  const item = { description: 'x', type: 'test-log', required: true, checked: false }
  const headings = [
    ...['## Proof Checklist', '### Proof checklist', '## Proof checklist:', '## PROOF CHECKLIST  '],
    ...['#### proof-checklist', '## **Proof checklist**', ' ## Proof Checklist ##'],
  ]
  for (const heading of headings) {
    for (const eol of ['\n', '\r\n']) {
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
    ...[
      '- [ ] x (test-log, Required)',
      '- [ ] x (required, test-log)',
      '- [ ] x (test log, required)',
    ],
    ...[
      '- [ ] x (test-log, required).',
      '- [ ] x (test-log; required)',
      '- [] x (test-log, required)',
    ],
    ...['- x (test-log, required)', '- [ ]  x (Test-Log,required)', '- [ ] x [test-log, required]'],
    ...[
      '1. [ ] x (test-log required)',
      '* x (`test-log`, **required**)',
      '- [ ] x (test-log, required',
    ],
    ...[
      '- [ ] x\n  (test-log,\n  required)',
      '- [ ] x (test-log, required)!',
      '- [ ]x (test-log, required)',
    ],
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
        ...['- [ ] x (required)', '- [ ] (required)', '- [ ] x (test-log, trace, required)'],
        ...['- [ ] x (my own check, required)', '- [ ] x (required, optional, log)'],
        ...[
          '- [ ] x (test-log, requird)',
          '- [ ] x (log, required) (urgent)',
          '- [ ] x: log, required',
        ],
        ...['- x (required)', '-[ ] x (test-log, required)', 'x (test-log, required)'],
        ...['| x | test-log | required |\n|---|---|---|'],
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
