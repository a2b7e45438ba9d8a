import { readFileSync } from 'node:fs'
import { eventually, inBrowser, isLive } from '../fixtures/browser.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { must, newSession, planned, reaches, step } from '../fixtures/session-client.ts'

const COUNT = step(
  'for n in $(seq 1 100000); do echo line $n; sleep 0.005; done',
  'sh run id=count',
)

/** What the browser says of a request that a killed service did not answer, by how far it had come. */
const CUT_OFF =
  /net::ERR_(CONNECTION_\w+|SOCKET_NOT_CONNECTED|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING)/

inBrowser(
  'a page outlives the end of the service in mid-run: no reload, no output twice or lost',
  async (t, visitor) => {
    visitor.expect(CUT_OFF)
    const service = await serveSample(t)
    const ref = await planned(service, { runbook: COUNT, fields: { title: 'It counts' } })
    const page = await visitor.open(`${service.url}/case/${ref.case_id}/session/1`)
    await isLive(page)
    await page.evaluate(() => Object.assign(window, { sameDocument: true }))
    await page.getByRole('button', { name: 'Approve and run 1 step' }).click()
    const lines = page.locator('#terminal .lines').first()
    await lines.getByText('line 150', { exact: true }).waitFor({ state: 'attached' })

    await service.kill()
    await page.locator('#live[data-connection=cut]').waitFor({ state: 'attached' })
    await service.again()
    await isLive(page)
    await eventually(
      () => page.locator('#session-head .badge').first().getAttribute('data-state'),
      (state) => state === 'failed',
    )
    const session = await must(service, 'GET', ref.path)
    t.equal(session.state, 'failed')
    const log = readFileSync(service.file(ref.case_id, 'artifacts', '1-count.log'), 'utf8')
    t.equal(log, `${numbered(log.trimEnd().split('\n').length)}\n`)
    const shown = await eventually(
      async () => (await lines.textContent()) ?? '',
      (text) => text.length >= log.length,
    )
    t.equal(shown.trimEnd(), log.trimEnd(), 'the page has all of the log, and all of it once')

    await must(service, 'PUT', `/cases/${ref.case_id}`, { title: 'It counted' })
    await page.locator('.crumbs').getByText('It counted').waitFor()
    t.equal(
      await page.evaluate(() => 'sameDocument' in window),
      true,
      'the page was never loaded anew, and is live again',
    )
  },
)

inBrowser('a page opened in mid-run has what came before, and what comes', async (t, visitor) => {
  const service = await serveSample(t)
  const runbook = step(
    'for n in $(seq 1 400); do echo line $n; sleep 0.002; done',
    'sh run id=count',
  )
  const ref = await planned(service, { runbook })
  await must(service, 'POST', `${ref.path}/approve`)
  const page = await visitor.open(`${service.url}/case/${ref.case_id}/session/1`)
  await page.locator('#session-head .badge[data-state=complete]').waitFor()
  const lines = page.locator('#terminal .lines').first()
  await lines.getByText('line 400', { exact: true }).waitFor({ state: 'attached' })
  t.equal((await lines.textContent())?.trimEnd(), numbered(400))
  t.match(await page.locator('#steps').innerText(), /count/)
})

inBrowser('the list hears of what happened while the service was away', async (t, visitor) => {
  visitor.expect(CUT_OFF)
  const service = await serveSample(t)
  const made = await must(service, 'POST', '/cases', { title: 'Nothing waits here yet' })
  const page = await visitor.open(service.url)
  await isLive(page)
  await service.kill()
  await page.locator('#live[data-connection=cut]').waitFor({ state: 'attached' })
  await service.again()
  const ref = await newSession(service, made.id)
  await reaches(service, ref, 'plan_ready')
  const row = page.locator(`#case-${made.id}`)
  await row.getByText('Plan', { exact: false }).first().waitFor()
  t.match(await row.innerText(), /Nothing waits here yet/)
})

function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n')
}
