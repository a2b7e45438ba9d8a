import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { verifySeen } from '../../src/cli/resolve/seen-proof.ts'
import { createClient } from '../../src/client/client.ts'
import { cliHere } from '../fixtures/cli-here.ts'
import { must, step } from '../fixtures/session-client.ts'

/** A case "Door" with a service, and the path of one of its files. */
async function door(t: Test, description = '') {
  const cli = cliHere(t, { tmp: {} })
  const service = await cli.serve()
  const { id } = (await cli.run('new', 'Door', '-d', description, '--json')).json
  return { cli, service, id, file: (name: string) => join(cli.root, 'memory', 'cases', id, name) }
}

t.test('a note leaves every byte that stands there', async (t) => {
  const { cli, file } = await door(t)
  const notes = file('notes.md')
  t.test('a byte order mark and blanks too', async (t) => {
    const present = '\ufeff# Notes  \n\n  \n'
    writeFileSync(notes, present)
    t.match(await cli.run('note', 'door', 'New.'), { code: 0 })
    const now = readFileSync(notes, 'utf8')
    t.match(now.slice(present.length), /^## \d{4}-\d\d-\d\d\n\nNew\.\n$/)
    t.equal(now.slice(0, present.length), present)
  })
  t.test('and is refused where they are no text', async (t) => {
    const latin1 = Buffer.from('Zur\u00fcck.\n', 'latin1')
    writeFileSync(notes, latin1)
    const said = await cli.run('note', 'door', 'New.')
    t.match(said, { code: 1, stderr: /notes\.md is not UTF-8 text \(line 1\)/ })
    t.ok(readFileSync(notes).equals(latin1))
  })
})

t.test('an editor', async (t) => {
  const { cli } = await door(t, step('echo fine', 'sh run id=say'))
  await cli.run('start', 'door')
  const TMPDIR = join(cli.root, 'tmp')
  const edit = (EDITOR: string) =>
    cli.runWith({ env: { EDITOR, VISUAL: '', TMPDIR } }, 'plan', 'door', '--edit')
  const keptIn = (t: Test, stderr: string) => {
    const [, path = ''] = /was saved in (\S+)/.exec(stderr) ?? []
    t.ok(existsSync(path), stderr)
    return path
  }

  t.test('has Ctrl-C for itself', async (t) => {
    const listeners = () => [process.listeners('SIGINT'), process.listeners('SIGQUIT')]
    const before = listeners()
    const said = await edit(
      `kill -INT ${process.pid}; kill -QUIT ${process.pid}; sed -i s/fine/better/`,
    )
    t.match(said, { code: 0, stdout: /▶ echo better/ })
    t.strictSame(listeners(), before)
  })
  t.test('that fails leaves what was written', async (t) => {
    const said = await edit('false_after() { sed -i s/better/best/ "$1"; return 3; }; false_after')
    t.match(said, { code: 1, stderr: /ended with exit 3/ })
    t.match(readFileSync(keptIn(t, said.stderr), 'utf8'), /^echo best$/m)
  })
  t.test('that is killed leaves its own copy of it', async (t) => {
    const said = await edit('die() { echo best > "$1.swp"; kill -KILL $$; }; die')
    t.match(said, { code: 1, stderr: /was stopped by SIGKILL/ })
    t.strictSame(readdirSync(keptIn(t, said.stderr)).sort(), ['plan.md', 'plan.md.swp'])
  })
  t.test('that saves no text sends nothing', async (t) => {
    const said = await edit('die() { printf \'\\374\\n\' > "$1"; }; die')
    t.match(said, { code: 1, stderr: /did not save UTF-8 text \(line 1\)/ })
    t.equal(readdirSync(dirname(keptIn(t, said.stderr))).length, 1)
  })
  t.test('that fails with nothing written leaves nothing', async (t) => {
    const before = readdirSync(TMPDIR)
    t.match(await edit('false'), { code: 1 })
    t.strictSame(readdirSync(TMPDIR), before)
  })
})

t.test('a proof is verified for what it said', async (t) => {
  const { service, id, file } = await door(t)
  const client = createClient(service, new AbortController().signal)
  const add = (content: string) =>
    must(service, 'POST', `/cases/${id}/proof`, { type: 'note', content })
  t.test('and so it is', async (t) => {
    t.match(await verifySeen(client, await add('I saw it')), { verified: true })
  })
  t.test('and not once somebody has changed it', async (t) => {
    const seen = await add('It fails')
    const path = file(`proof/${seen.id}.md`)
    writeFileSync(path, readFileSync(path, 'utf8').replace('It fails', 'It works'))
    await t.rejects(verifySeen(client, seen), {
      code: 'precondition_failed',
      message: /changed in the meantime/,
    })
    t.match(await must(service, 'GET', `/cases/${id}/proof/${seen.id}`), { verified: false })
  })
  t.test('nor when that comes between the look and the word', async (t) => {
    const seen = await add('It fails')
    const path = file(`proof/${seen.id}.md`)
    const late: typeof client.request = async (method, ...asked) => {
      const answer = await client.request(method, ...asked)
      if (method === 'GET') {
        writeFileSync(path, readFileSync(path, 'utf8').replace('It fails', 'It works'))
      }
      return answer
    }
    await t.rejects(verifySeen({ request: late }, seen), { message: /changed in the meantime/ })
    t.match(await must(service, 'GET', `/cases/${id}/proof/${seen.id}`), { verified: false })
  })
})
