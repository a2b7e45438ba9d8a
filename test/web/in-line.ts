import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { commit, git } from '../fixtures/git-repository.ts'
import { textOf } from '../fixtures/page-text.ts'
import { must, planned, reaches, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

t.test('a session in line is not shown as running', async (t) => {
  const service = await openTestService(t, { files: { '.gitignore': '/memory/\n' } })
  git(service.root, 'init', '-q', '-b', 'main')
  commit(service.root)
  const pageOf = async (path: string): Promise<string> =>
    (await service.request('GET', path, undefined, { accept: 'text/html' })).text
  const runbook = step('while [ ! -e go ]; do sleep 0.1; done')
  const first = await planned(service, { runbook, fields: { title: 'First' } })
  const second = await planned(service, { runbook, fields: { title: 'Second' } })
  await must(service, 'POST', `${first.path}/approve`)
  await reaches(service, first, 'executing')
  const busy = await pageOf(`/case/${second.case_id}/session/1`)
  t.match(textOf(busy, 'folder-busy'), 'Your approval can wait in line.')
  t.match(textOf(busy, 'approve'), 'Approve, and wait in line')
  t.match(busy, /<input type="hidden" name="queue" value="true" data-list="json"/)
  t.match(busy, /data-live="\/events\?after=now&amp;output=no"/, 'events of all cases')
  await must(service, 'POST', `${second.path}/approve`, { queue: true })
  const waits = await pageOf(`/case/${second.case_id}/session/1`)
  t.match(
    textOf(waits, 'status'),
    /Session 1 waits in line \(next\), after session 1 of "First"\. It starts by itself, on what the working folder has by then.* Take it out of the line/,
  )
  t.match(waits, /data-send="DELETE"[^>]*action="[^"]*\/queue"/)
  t.notMatch(waits, /stop-form/)
  const html = await pageOf(`/case/${second.case_id}`)
  t.equal(textOf(html, 'state'), 'In line')
  t.match(textOf(html, 'status'), /Session 1 waits in line \(next\), .* Watch$/)
  t.match(textOf(html, 'session-1'), /In line/)
  t.match(textOf(html, 'history'), /waits in line after session 1 of “First”/)
  t.match((await pageOf('/')).replace(/<[^>]*>/g, ' '), /In line\s+session 1 waits in line/)

  await must(service, 'DELETE', `${second.path}/queue`)
  const left = await pageOf(`/case/${second.case_id}`)
  t.match(textOf(left, 'history'), /left the line Taken out of the line\./)
  t.notMatch(textOf(left, 'status'), 'in line')
  const again = await pageOf(`/case/${second.case_id}/session/1`)
  t.match(
    textOf(again, 'status'),
    /The plan of session 1 waits for approval again\. Nothing has run\. Taken out of the line\./,
  )
  t.match(
    textOf(again, 'folder-busy'),
    /^Session 1 of First works in this working folder\. .* The plan then starts by itself, on what the working folder has by then\./,
  )
  writeFileSync(join(service.root, 'go'), '')
  await reaches(service, first, 'complete')
})
