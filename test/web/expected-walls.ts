import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { must, planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

t.test('who must approve reads first what the programs could do', async (t) => {
  const service = await openTestService(t, { files: { 'casefile.md': '' }, trust: true })
  const ref = await planned(service, { runbook: step('true') })
  const seen = async () => {
    const { text } = await service.request('GET', `/case/${ref.case_id}/session/1`, undefined, {
      accept: 'text/html',
    })
    const notice = /<(\w+)[^>]* id="expected-walls".*?<\/\1>/s.exec(text)?.[0] ?? ''
    const words = /<p[^>]*>(.*?)<\/p>/s.exec(notice)?.[1]?.replace(/ <a.*/s, '') ?? ''
    const approve = /<button[^>]*id="approve-button"[^>]*>|<form[^>]*id="approve"[\s\S]*?<\/form>/
    return { notice, words, approve: approve.exec(text)?.[0] ?? '', page: text }
  }
  const approval = () => must(service, 'GET', `${ref.path}/approval`)

  const usual = await seen()
  t.equal(usual.words, (await approval()).walls.text)

  writeFileSync(join(service.root, 'casefile.md'), '---\nsandbox: none\n---\n')
  await service.restart()
  const open = await seen()
  t.match(
    open.words,
    /^Nothing limits the programs: they can do what you can \(casefile\.md says so/,
  )
  t.match(open.notice, 'data-tone="warn"')

  writeFileSync(join(service.root, 'casefile.md'), '---\nsandbox: { hosts: [example.com] }\n---\n')
  await service.restart()
  const { objection } = await approval()
  t.match(objection, /sandbox-runtime is not installed\. Install it: /)
  const closed = await seen()
  t.match(closed.words, 'on the network only: example.com')
  t.match(closed.page, 'sandbox-runtime is not installed')
  t.match(closed.approve, 'disabled')
  t.match(await service.request('POST', `${ref.path}/approve`), {
    status: 422,
    json: { code: 'provider_unavailable', detail: objection },
  })
})
