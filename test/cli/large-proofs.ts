import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { cliHere } from '../fixtures/cli-here.ts'
import { mcpClient } from '../fixtures/mcp-client.ts'

const COUNT = 7
const CONTENT = 'It works, as anybody can see here.\n'.repeat(296_000)

t.test('a case with large proofs', { timeout: 300_000 }, async (t) => {
  const cli = cliHere(t)
  const { json: made } = await cli.run('new', 'Door', '--json')
  const folder = join(cli.root, 'memory', 'cases', made.id, 'proof')
  mkdirSync(folder)
  const sha256 = createHash('sha256').update(CONTENT.trimEnd()).digest('hex')
  for (let index = 0; index < COUNT; index++) {
    const id = randomUUID()
    const head = `id: ${id}\ncase_id: ${made.id}\nsession_id: null\ntype: operator-note\ncreated_at: 2026-11-11T15:40:00.00${index}Z\nsha256: ${sha256}\nverified: false\nverified_at: null`
    writeFileSync(join(folder, `${id}.md`), `---\n${head}\n---\n\n\`\`\`text\n${CONTENT}\`\`\`\n`)
  }
  const lines = (text: string) => text.trimEnd().split('\n').length
  t.match(await cli.run('show', 'door'), { code: 0, stdout: /Proof\n(?: {2}[0-9a-f]{8} .*\n){7}/ })
  t.equal(lines((await cli.run('prove', 'list', 'door')).stdout), COUNT)
  t.match(await cli.run('prove', 'door'), { code: 4 })

  const agent = await mcpClient(t, { root: cli.root, env: cli.env })
  t.match((await agent.call('get_case', { case: 'door' })).json, { proof_count: COUNT })
  t.match((await agent.call('list_proof', { case: 'door' })).json, { total: COUNT })

  const verified = await cli.run('prove', 'verify', 'door', '--all', '--yes')
  t.equal(verified.code, 0, verified.stderr)
  t.equal(lines(verified.stdout), COUNT)
  const exported = await cli.run('export')
  t.equal(exported.code, 0, exported.stderr)
  t.equal(exported.json.proof.length, COUNT)
  t.equal(exported.json.proof[0].content.length, CONTENT.trimEnd().length)
})
