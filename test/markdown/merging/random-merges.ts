import t from 'tap'
import { newCaseText, readCase } from '../../../src/markdown/case-file.ts'
import { withHistory } from '../../../src/markdown/history-file.ts'
import { useParser } from '../../../src/markdown/parser-pool.ts'
import { isConflictCopy } from '../../../src/model/conflict-copy.ts'
import { createEditor, readWhole } from '../../fixtures/case-editor.ts'
import { isFull, isLong } from '../../fixtures/full.ts'
import { type Files, merged } from '../../fixtures/merge-folder.ts'
import { randomFrom } from '../../fixtures/random.ts'
import { CASE, CASE_ID, NOW } from '../../fixtures/records.ts'

t.teardown(useParser())

const SEED = Number(process.env.CASEFILE_TEST_SEED)
const ROUNDS = isFull ? 2000 : isLong ? 120 : 24

/** The lines that are in `after` more often than in `before`. */
function added(before: Files, after: Files): string[] {
  const count = (files: Files) => {
    const found = new Map<string, number>()
    for (const text of Object.values(files))
      for (const line of (text as string).split('\n')) found.set(line, (found.get(line) ?? 0) + 1)
    return found
  }
  const was = count(before)
  return [...count(after)]
    .filter(([line, times]) => times > (was.get(line) ?? 0))
    .map(([line]) => line)
}

/** Lines that the merge may write otherwise: tags are a set, renumbering changes some lines of a session. */
const CHANGES = /^(?:tags:|number:|# Session |\d+\. .* session_sealed )/

async function checkMerge(base: Files, ours: Files, theirs: Files): Promise<Files> {
  const { texts } = await merged({ base, ours, theirs })
  const present = new Set(Object.values(texts).flatMap((text) => text.split('\n')))
  for (const side of [ours, theirs])
    for (const line of added(base, side))
      if (!CHANGES.test(line) && !present.has(line)) throw new Error(`lost: ${line}`)
  const ids = new Set<string>()
  for (const [path, text] of Object.entries(texts)) {
    const number = /^sessions\/(\d+)\.md$/.exec(path)?.[1]
    if (number === undefined) continue
    const { id } = readWhole(text, Number(number), CASE_ID)
    if (ids.has(id)) throw new Error(`the session ${id} is there twice`)
    ids.add(id)
  }
  const history = texts['history.md']!.split('\n').filter((line) => line.startsWith('- '))
  if (new Set(history).size < history.length) throw new Error('a line of the history is doubled')
  if (!(await readCase(texts['case.md']!, { id: CASE_ID, created_at: NOW })).value)
    throw new Error('case.md is unreadable')
  for (const [name, versions] of Object.entries({
    'theirs again': { base, ours: texts, theirs },
    'ours again': { base, ours: texts, theirs: ours },
    'by ours': { base, ours, theirs: texts },
  })) {
    const again = (await merged(versions)).texts
    t.strictSame(again, texts, `${name} changes nothing`) ||
      (() => {
        throw new Error(name)
      })()
  }
  return texts
}

t.test(
  'random edits of two clones: nothing is lost, no session is broken, and merging again changes nothing',
  async (t) => {
    t.comment(`CASEFILE_TEST_SEED=${SEED}`)
    const first: Files = {
      'case.md': await newCaseText({
        ...CASE,
        description: 'One.\n\nTwo.\n\nThree.',
        checklist: [],
      }),
      'history.md': withHistory(null, [`- ${NOW} · a · created`]),
      'notes.md': 'a\nb\nc\n',
    }
    const random = randomFrom(SEED)
    const [a, b] = [
      createEditor(random, 'ours', { caseId: CASE_ID }),
      createEditor(random, 'theirs', { caseId: CASE_ID }),
    ]
    let base = first
    let copies = 0
    for (let round = 0; round < ROUNDS; round++) {
      if (round % 6 === 0) base = first
      const [ours, theirs] = [
        await a(base, 1 + Math.floor(random() * 6)),
        await b(base, 1 + Math.floor(random() * 6)),
      ]
      try {
        base = await checkMerge(base, ours, theirs)
      } catch (error) {
        t.fail(`round ${round}: ${(error as Error).message}`)
        return
      }
      const kept = Object.keys(base).filter(isConflictCopy)
      copies += kept.length
      base = Object.fromEntries(Object.entries(base).filter(([path]) => !kept.includes(path)))
    }
    t.comment(`${ROUNDS} rounds, ${copies} conflict copies`)
    t.pass('all rounds')
  },
)
