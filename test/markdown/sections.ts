import { deepEqual, equal } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { CASE_LAYOUT } from '../../src/markdown/case-file.ts'
import { parsedOutline, shortOutline } from '../../src/markdown/outline.ts'
import { useParser } from '../../src/markdown/parser-pool.ts'
import { LEAD, readSections, sectionText, withSection } from '../../src/markdown/sections.ts'
import { SESSION_LAYOUT } from '../../src/markdown/session-texts.ts'
import { isFull } from '../fixtures/full.ts'
import { hostileText, markdownText } from '../fixtures/markdown-text.ts'

t.teardown(useParser())

// RELIABILITY.md MD-1 in full: 10,000 texts, two at a time
const RUNS = isFull ? 5000 : 80

const EMPTY = [
  '---\nid: x\n---\n\n# Session 1: planning\n\n## Hypothesis\n\nWhy\n\n## Plan\n\n## Execution output\n\n## Changes\n\n',
  '## Proof candidates\n\n## Audit trail\n\n1. 2026-11-20T09:54:00.000Z session_created type=planning\n',
].join('')

t.test('any text into any section comes back, and every other byte stays', async () => {
  const names = ['Hypothesis', 'Plan', 'Execution output', 'Changes', 'Proof candidates']
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(EMPTY, EMPTY.replaceAll('\n', '\r\n'), `\ufeff${EMPTY}`),
      fc.constantFrom(...names),
      hostileText,
      hostileText,
      async (file, name, first, second) => {
        const once = await withSection(file, SESSION_LAYOUT, name, first)
        const other = names[(names.indexOf(name) + 1) % names.length]!
        const twice = await withSection(once, SESSION_LAYOUT, other, second)
        const read = (await readSections(twice, SESSION_LAYOUT))!
        equal(sectionText(read, name), first)
        equal(sectionText(read, other), second)
        const back = await withSection(
          once,
          SESSION_LAYOUT,
          name,
          sectionText((await readSections(file, SESSION_LAYOUT))!, name)!,
        )
        equal(back, file, 'written back, the file is what it was')
      },
    ),
    { numRuns: RUNS, verbose: 1 },
  )
})

t.test('any text is a description, with and without a checklist below', async () => {
  const files = [
    '---\nid: x\n---\n',
    '---\r\nid: x\r\n---\r\n',
    '---\nid: x\n---\n\nold\n\n## Proof checklist\n\n- [ ] a (log)\n',
  ]
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...files), hostileText, async (file, text) => {
      const edited = await withSection(file, CASE_LAYOUT, LEAD, text)
      equal(sectionText((await readSections(edited, CASE_LAYOUT))!, LEAD), text)
      equal(edited.slice(0, file.indexOf('---', 4)), file.slice(0, file.indexOf('---', 4)))
    }),
    { numRuns: RUNS, verbose: 1 },
  )
})

t.test('where the short way finds an outline, the parser finds the same', async (t) => {
  let short = 0
  await fc.assert(
    fc.asyncProperty(markdownText, async (text) => {
      const found = shortOutline(text, SESSION_LAYOUT.names)
      if (!found) return
      short++
      deepEqual(found, await parsedOutline(text, SESSION_LAYOUT.names))
    }),
    { numRuns: 40, verbose: 1 },
  )
  t.ok(short > 5, `${short} of 40 texts took the short way`)
})
