import { readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { cliHere } from '../fixtures/cli-here.ts'
import { BEADS, backlogTree, lines, TASKMASTER, vibeZip } from '../fixtures/imported-tasks.ts'

t.test("a project's folder is recognised, and imported once", async (t) => {
  const projects = {
    backlog: backlogTree(),
    beads: { '.beads': { 'issues.jsonl': lines(BEADS) } },
    taskmaster: { '.taskmaster': { tasks: { 'tasks.json': JSON.stringify(TASKMASTER) } } },
  }
  const cli = cliHere(t, { projects })
  const counts = { backlog: 5, beads: 6, taskmaster: 6 }
  for (const [tool, count] of Object.entries(counts)) {
    const folder = join('projects', tool)
    t.match((await cli.run('import', folder, '--json')).json, { made: count, present: 0 }, tool)
    const again = await cli.run('import', folder, '--dry-run', '--json')
    t.match(again.json, { dry_run: true, made: 0, present: count }, tool)
  }
  const notes = readdirSync(join(cli.root, 'memory', 'cases'), { recursive: true })
  t.equal(notes.filter((name) => String(name).endsWith('beads.md')).length, 6)
})

t.test('an export of vibe-kanban', async (t) => {
  const cli = cliHere(t)
  writeFileSync(join(cli.root, 'export.zip'), vibeZip())
  t.match(await cli.run('import', 'export.zip'), {
    code: 0,
    stdout: /IMPLEMENTING +SHOP-1/,
    stderr: /^2 cases were created\n.*\n1 attachments .*keep the export/,
  })
})

t.test('--from names the tool, where a folder has several or none', async (t) => {
  const cli = cliHere(t, {
    both: { ...(backlogTree() as object), '.beads': { 'issues.jsonl': lines(BEADS) } },
    empty: {},
  })
  t.match(await cli.run('import', 'both'), { code: 1, stderr: /backlog and beads.*--from backlog/ })
  t.match(await cli.run('import', 'both', '--from', 'beads', '--json'), { json: { made: 6 } })
  t.match(await cli.run('import', 'empty'), { code: 1, stderr: /has no backlog\/, \.beads/ })
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
  const [first] = BEADS
  writeFileSync(join(cli.root, 'a.jsonl'), lines([first!]))
  writeFileSync(
    join(cli.root, 'b.jsonl'),
    lines([{ ...first, created_at: '2025-01-01T00:00:00Z' }]),
  )
  await cli.run('import', 'a.jsonl')
  t.match(await cli.run('import', 'b.jsonl'), { stderr: /1 skipped.*\(bd-a1b2\).*--project/ })
  t.match(await cli.run('import', 'b.jsonl', '--project', 'shop', '--json'), { json: { made: 1 } })
})
