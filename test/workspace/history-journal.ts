import { createHash } from 'node:crypto'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openHistoryJournal } from '../../src/workspace/history-journal.ts'

const ID = '9d1e3b52-6a0f-4a53-9b57-0c4c4f1d2a10'
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

t.test('after a kill the lines of changes that were made are due, and no others', async (t) => {
  const dir = t.testdir({ 'made.md': 'new', 'unmade.md': 'old' })
  const path = join(dir, 'history.jsonl')
  const journal = openHistoryJournal(
    path,
    () => dir,
    () => {},
  )
  const before = sha256('old')
  journal.begin(ID, ['made'], { path: 'made.md', before })
  journal.begin(ID, ['not made'], { path: 'unmade.md', before })
  journal.begin(ID, ['new file that is missing'], { path: 'gone.md', before: null })
  journal.begin(ID, ['at once'], null)
  journal.written([journal.begin(ID, ['written'], null)])
  journal.drop(journal.begin(ID, ['dropped'], null))
  journal.note(ID, { key: 'state', at: '2026-11-20T09:55:12.310Z', what: '', from: 'OPEN' })
  journal.note(ID, { key: 'state', at: '2026-11-20T09:56:12.310Z', what: '', from: 'BLOCKED' })
  journal.close()
  appendFileSync(path, '[9,{"caseI') // the kill
  const again = openHistoryJournal(
    path,
    () => dir,
    () => {},
  )
  t.strictSame(again.due(ID).lines, ['made', 'at once'])
  t.match(again.noted(ID), [{ key: 'state', from: 'OPEN' }], 'the first of two about the same')
  again.written(again.due(ID).ids)
  again.settled(ID, again.noted(ID))
  again.close()
  const last = openHistoryJournal(
    path,
    () => dir,
    () => {},
  )
  t.strictSame([last.due(ID).lines, last.noted(ID), last.cases()], [[], [], []])
  last.close()
})

t.test('a change counts as made once its file is another', async (t) => {
  const dir = t.testdir({ 'case.md': 'old' })
  const path = join(dir, 'history.jsonl')
  const journal = openHistoryJournal(
    path,
    () => dir,
    () => {},
  )
  journal.begin(ID, ['a line'], { path: 'case.md', before: sha256('old') })
  t.strictSame(journal.due(ID).lines, [], 'not before')
  journal.close()
  writeFileSync(join(dir, 'case.md'), 'new')
  const again = openHistoryJournal(
    path,
    () => dir,
    () => {},
  )
  t.strictSame(again.due(ID).lines, ['a line'])
  again.close()
})
