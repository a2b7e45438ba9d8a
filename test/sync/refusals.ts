import { existsSync } from 'node:fs'
import t from 'tap'
import { must } from '../fixtures/session-client.ts'
import { makeOrigin, openSyncedClone } from '../fixtures/synced-clones.ts'

t.test('a filter of git on markdown stops it', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', { title: 'One' })
  await a.sync()
  const b = await openSyncedClone(t, { dir, name: 'b' })
  for (const clone of [a, b]) {
    clone.git('config', 'filter.turned.clean', 'tr a-z n-za-m')
    clone.git('config', 'filter.turned.smudge', 'tr a-z n-za-m')
  }
  const before = a.git('rev-parse', 'HEAD')
  const plain = a.read('.gitattributes')
  a.write(`${plain}*.md filter=turned\n`, '.gitattributes')
  a.write('hello\n', 'cases', id, 'notes.md')
  const refused = {
    state: 'stopped',
    code: 'filtered_file',
    reason: /notes\.md has .*filter=turned/,
  }
  t.match(await a.sync(), refused)
  t.equal(a.git('rev-parse', 'HEAD'), before, 'nothing is committed')

  a.git('add', '.')
  a.git('commit', '-qm', 'by hand')
  a.git('push', '-q')
  t.match(await b.sync(), refused, 'what others pushed is not merged')
  t.notOk(existsSync(b.path('cases', id, 'notes.md')))
  t.equal(b.git('rev-parse', 'HEAD'), before)
  b.git('pull', '-q')
  t.equal(b.read('cases', id, 'notes.md'), 'hello\n')
  t.match(await b.sync(), { state: 'in_sync' }, 'what git merged stays')

  a.write(`${plain}*.md ident\n`, '.gitattributes')
  a.write('hello $Id$\n', 'cases', id, 'notes.md')
  t.match(await a.sync(), { code: 'filtered_file', reason: /attribute ident:/ })
  a.write(plain, '.gitattributes')
  a.git('add', '--renormalize', '.')
  t.match(await a.sync(), { state: 'in_sync' })
  t.equal(a.git('cat-file', 'blob', `HEAD:cases/${id}/notes.md`), 'hello $Id$\n')
  t.match(await b.sync(), { code: 'filtered_file' }, 'this clone still has the filter')
  b.git('pull', '-q')
  t.match(await b.sync(), { state: 'in_sync' })
  t.equal(a.tree(), b.tree())
})
