import { join } from 'node:path'
import t from 'tap'
import { unfinishedWork } from '../../src/git/unfinished-work.ts'

t.test('what git has begun is read from its folder', async (t) => {
  const of = (tree: Parameters<typeof t.testdir>[0]) => unfinishedWork(t.testdir(tree))
  t.equal(of({ HEAD: '' }), null)
  t.equal(of({ MERGE_HEAD: '' }), 'merge')
  t.equal(of({ CHERRY_PICK_HEAD: '' }), 'cherry-pick')
  t.equal(of({ REVERT_HEAD: '' }), 'revert')
  t.equal(of({ 'rebase-merge': {}, MERGE_HEAD: '' }), 'rebase')
  t.equal(of({ 'rebase-apply': {} }), 'rebase')
  t.equal(of({ 'rebase-apply': { applying: '' } }), 'am')
})

t.test('a forged folder is no error', async (t) => {
  t.equal(unfinishedWork(t.testdir({ 'rebase-apply': '' })), 'rebase')
  t.equal(
    unfinishedWork(t.testdir({ 'rebase-apply': t.fixture('symlink', 'rebase-apply') })),
    'rebase',
  )
  t.equal(unfinishedWork(join(t.testdir({ git: '' }), 'git')), null)
  t.equal(unfinishedWork(join(t.testdir(), 'gone')), null)
})
