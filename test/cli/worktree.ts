import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { cliHere } from '../fixtures/cli-here.ts'
import { inLongLane } from '../fixtures/full.ts'
import { commit, git } from '../fixtures/git-repository.ts'

t.test('the work of an isolated session in the terminal', async (t) => {
  const cli = cliHere(t, { 'casefile.md': '---\n---\n' })
  const { root } = cli
  git(root, 'init', '-q', '-b', 'main')
  writeFileSync(join(root, '.gitignore'), '/memory/\n')
  commit(root)
  await cli.serve()
  const begin = async (title: string, file: string, ...options: string[]) => {
    const { json: made } = await cli.run('new', title, ...options, '--json')
    t.match(await cli.run('doctor', '--trust', '--yes'), { code: 0 })
    const book = `\`\`\`sh run\necho paint > ${file}\n\`\`\`\n`
    writeFileSync(join(root, 'memory/cases', made.id, 'runbook.md'), book)
    const started = await cli.run('start', made.id, '--isolation', 'worktree')
    t.match(started, { code: 0, stdout: /The work happens in a separate git worktree/ })
    return made
  }
  const made = await begin('Red door', 'door.txt')
  const missing = /The work of session 1 is not in main yet: 1 commit on casefile\/red-door-1\./
  const approved = await cli.run('approve', 'door', '--yes')
  t.match(approved, { code: 0, stderr: missing })
  t.match(approved.stderr, /Next: casefile prove add/)
  const gate = await cli.run('prove', 'door')
  t.match(gate.stderr, missing)
  const proof = ['prove', 'add', 'door', '--text', 'Seen.', '--type', 'note', '--verify']
  t.match((await cli.run(...proof)).stderr, /Next: casefile session apply \w{8} 1\n/)
  t.match(await cli.run('show', 'door', '1'), {
    stdout: /Worktree {2}casefile\/red-door-1\n {2}It has 1 commit\.\n.*casefile session apply/,
  })
  const { worktree } = (await cli.run('show', 'door', '1', '--json')).json
  t.match(worktree, { branch: 'casefile/red-door-1', state: 'kept', ahead: 1 })
  t.match(await cli.run('session', 'apply', 'door', '--json'), { code: 2 })
  const kept =
    /Not deleted: the worktree and the branch casefile\/red-door-1 of session 1 \(1 commit to apply\)\. To remove:\n {2}git worktree remove \S+\n {2}git branch -D 'casefile\/red-door-1'\nDelete/
  t.match(await cli.runWith({ answers: [[/y\/N/, 'n']] }, 'delete', 'door'), { shown: kept })
  t.match(await cli.run('session', 'apply', 'door', '--yes'), {
    code: 0,
    stdout: /applied: main is at/,
  })
  t.equal(readFileSync(join(root, 'door.txt'), 'utf8'), 'paint\n')
  const again = await cli.run('session', 'apply', 'door', '--yes')
  t.match(again.stderr, /applied already: main has all commits of casefile\/red-door-1\./)
  t.notMatch((await cli.run('prove', 'door')).stderr, missing, 'once it is applied')
  const discarded = await cli.run('session', 'discard', 'door', '1', '--yes')
  t.match(discarded, { stdout: /discarded the worktree of session 1; and its branch/ })
  t.notOk(existsSync(worktree.path))
  t.match(await cli.run('session', 'discard', made.id), { code: 2 })
  const gone = await cli.run('session', 'apply', 'door', '--yes')
  t.match(gone.stderr, /applied or discarded already: casefile\/red-door-1 has nothing to apply\./)

  await t.test(
    'what is discarded stays on its branch, which is named until it is merged',
    inLongLane,
    async (t) => {
      const code = join(root, '..', 'code')
      mkdirSync(code)
      git(code, 'init', '-q', '-b', 'main')
      writeFileSync(join(code, 'wall.txt'), 'bricks')
      commit(code)
      await begin('Blue wall', 'wall.txt', '--workdir', code)
      await cli.run('approve', 'wall', '--yes')
      writeFileSync(join(code, 'wall.txt'), 'stones')
      commit(code)
      const conflict = await cli.run('session', 'apply', 'wall', '--yes')
      t.match(conflict, { code: 1, stderr: /git merge casefile\/blue-wall-1/ })
      git(code, 'reset', '-q', '--hard', 'HEAD~')
      await cli.run('session', 'discard', 'wall', '--yes')
      const missing =
        /work of session 1 is not in main, its worktree was discarded: 1 commit on casefile\/blue-wall-1\./
      t.match((await cli.run('prove', 'wall')).stderr, missing)
      const applied = await cli.run('session', 'apply', 'wall', '--yes')
      t.match(
        applied.stderr,
        /discarded; its branch casefile\/blue-wall-1 has 1 commit: git merge casefile\/blue-wall-1\n/,
      )
      const proof = ['prove', 'add', 'wall', '--text', 'Seen.', '--type', 'note', '--verify']
      const proved = await cli.run(...proof)
      t.match(proved.stderr, missing)
      t.match(proved.stderr, /Next: casefile resolve/)
      t.match(await cli.run('resolve', 'wall', '--outcome', 'fixed'), { code: 0, stderr: missing })
      const deleted = await cli.runWith({ answers: [[/y\/N/, 'n']] }, 'delete', 'wall')
      t.match(
        deleted.shown,
        /Not deleted: the branch casefile\/blue-wall-1 of .*\n {2}git branch -D 'casefile\/blue-wall-1'\n/,
      )
      t.notMatch(deleted.shown, 'worktree remove')
      git(code, 'merge', '-q', 'casefile/blue-wall-1')
      // a view is kept for a second
      while (missing.test((await cli.run('prove', 'wall')).stderr));
      t.match((await cli.run('delete', 'wall', '--yes')).stderr, /^$/)
    },
  )
})
