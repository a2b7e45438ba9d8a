import t from 'tap'
import { planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const app = await openTestService(t)

interface Link {
  title: string
  detail: string
  href: string
}

async function links(path: string): Promise<Link[]> {
  const reply = await app.request('GET', path)
  t.equal(reply.status, 200, reply.text)
  return reply.json
}

t.test('cases by title and id, the last changed first', async (t) => {
  const login = await app.newCase({ title: 'Login fails' })
  const other = await app.newCase({ title: 'Rounding' })
  const titles = async (q: string) => {
    return (await links(`/palette?q=${encodeURIComponent(q)}`)).map(({ title }) => title)
  }
  t.strictSame(await titles('lgn'), ['Login fails'])
  t.strictSame(await titles('nothing like it'), [])
  t.strictSame(await titles(other.id.slice(0, 8)), ['Rounding'])
  await app.request('PUT', `/cases/${login.id}/state`, { state: 'BLOCKED' })
  t.strictSame((await links('/palette'))[0], {
    title: 'Login fails',
    detail: 'Blocked',
    href: `/case/${login.id}`,
  })
})

t.test('the sessions, proof and files of a case', async (t) => {
  const { ref } = { ref: await planned(app, { runbook: step('true') }) }
  const proof = { type: 'log', content: 'Seen' }
  const { id } = (await app.request('POST', `/cases/${ref.case_id}/proof`, proof)).json
  const found = await links(`/palette/${ref.case_id}`)
  t.strictSame(
    found.map(({ title }) => title),
    [
      'Session 1: implementing',
      'Proof: log',
      'case.md',
      'history.md',
      'runbook.md',
      'sessions/1.md',
    ],
  )
  t.equal(found[1]!.href, `/case/${ref.case_id}/proof/${id}`)
  const missing = await app.request('GET', '/palette/00000000-0000-4000-8000-000000000000')
  t.equal(missing.status, 404)
})
