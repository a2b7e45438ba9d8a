import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { resolveSessionHead } from '../../src/cli/resolve/find-session.ts'
import { verifySeen } from '../../src/cli/resolve/seen-proof.ts'
import { createClient } from '../../src/client/client.ts'
import { cliHere } from '../fixtures/cli-here.ts'
import { must } from '../fixtures/session-client.ts'

t.test('a proof is verified for what it said', async (t) => {
  const cli = cliHere(t)
  const service = await cli.serve()
  const { id } = await must(service, 'POST', '/cases', { title: 'Door' })
  const file = (name: string) => join(cli.root, 'memory', 'cases', id, name)
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

t.test('a number names no session whose id begins with it', async (t) => {
  const body = [{ id: '2abc1234-0000-4000-8000-000000000000', number: 1, state: 'complete' }]
  const client = { request: async () => ({ body, next: null }) } as never
  await t.rejects(
    resolveSessionHead(client, 'a case', '2'),
    /no session "2". It has: 1 \(complete\)/,
  )
  t.match(await resolveSessionHead(client, 'a case', '2abc'), { number: 1 })
})
