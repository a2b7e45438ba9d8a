import { readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { cliHere } from '../fixtures/cli-here.ts'
import { backlogTree, lines, TASKS } from '../fixtures/imported-tasks.ts'

t.test("a project's folder and a list are recognised, and imported once", async (t) => {
  const cli = cliHere(t, { shop: backlogTree(), 'tasks.jsonl': lines(TASKS) })
  for (const [named, count] of Object.entries({ shop: 5, 'tasks.jsonl': 7 })) {
    t.match((await cli.run('import', named, '--json')).json, { made: count, present: 0 }, named)
    const again = await cli.run('import', named, '--dry-run', '--json')
    t.match(again.json, { dry_run: true, made: 0, present: count }, named)
  }
  const notes = readdirSync(join(cli.root, 'memory', 'cases'), { recursive: true })
  t.equal(notes.filter((name) => String(name).endsWith('imported.md')).length, 7)
})

t.test('a folder without tasks, and a tool that is unknown', async (t) => {
  const cli = cliHere(t, { shop: backlogTree(), empty: {} })
  t.match(await cli.run('import', 'empty'), { code: 1, stderr: /no tasks of Backlog\.md/ })
  t.match(await cli.run('import', 'shop', '--from', 'json'), { code: 1, stderr: /name a file/ })
  t.match(await cli.run('import', 'empty', '--from', 'jira'), {
    code: 2,
    stderr: /Expected one of/,
  })
  t.match(await cli.run('import', 'empty', '--project', '../x'), { code: 2, stderr: /short name/ })
})

t.test(
  'a link in a folder is an error, so that nothing is left out or read elsewhere',
  async (t) => {
    const cli = cliHere(t, { shop: backlogTree() })
    symlinkSync('/etc/passwd', join(cli.root, 'shop', 'backlog', 'tasks', 'task-9 - x.md'))
    t.match(await cli.run('import', 'shop'), { code: 1, stderr: /task-9 - x\.md.*it is a link/ })
  },
)

t.test('a task of another project with the same id is named', async (t) => {
  const cli = cliHere(t)
  const [first] = TASKS
  writeFileSync(join(cli.root, 'a.jsonl'), lines([first!]))
  writeFileSync(
    join(cli.root, 'b.jsonl'),
    lines([{ ...first, created_at: '2025-01-01T00:00:00Z' }]),
  )
  await cli.run('import', 'a.jsonl')
  t.match(await cli.run('import', 'b.jsonl'), { stderr: /1 skipped.*\(bd-a1b2\).*--project/ })
  t.match(await cli.run('import', 'b.jsonl', '--project', 'shop', '--json'), { json: { made: 1 } })
})
