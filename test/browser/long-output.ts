import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inBrowser } from '../fixtures/browser.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { must, planned, step } from '../fixtures/session-client.ts'

inBrowser('a page opened past the end of the live output shows what comes', async (t, visitor) => {
  visitor.expect(/ERR_FAILED/)
  const service = await serveSample(t)
  const [early, late, end] = ['early', 'late', 'end'].map((name) => join(service.root, name))
  const until = (path: string) => `until [ -e '${path}' ]; do sleep 0.05; done`
  const runbook = step(
    `seq -w 1 200000; ${until(early!)}; echo comes early; ${until(late!)}; echo comes late; ${until(end!)}; printf 'the end'`,
    'sh run id=print',
  )
  const ref = await planned(service, { runbook })
  await must(service, 'POST', `${ref.path}/approve`)
  const page = await visitor.open(service.url)
  const address = `${service.url}/case/${ref.case_id}/session/1`
  const lines = page.locator('#terminal .lines').first()
  const has = (text: string) => lines.getByText(text).waitFor({ state: 'attached' })
  await page.goto(address)
  await has('200000')
  // loaded anew, it is told nothing of what was printed, nor that no more will be told
  await page.goto(address)
  await has('200000')
  await page.waitForResponse((response) => response.url().includes('/artifacts/'))
  writeFileSync(early!, '')
  await has('comes early')

  await page.route('**/artifacts/**', (route) => route.abort())
  await page.waitForEvent('requestfailed')
  await page.unroute('**/artifacts/**')
  writeFileSync(late!, '')
  await has('comes late')
  t.equal((await must(service, 'GET', ref.path)).state, 'executing', 'it still runs')

  writeFileSync(end!, '')
  await has('the end')
  await page.locator('#session-head .badge[data-state=complete]').waitFor()
  const shown = (await lines.textContent()) ?? ''
  t.ok(shown.endsWith('199999\n200000\ncomes early\ncomes late\nthe end'), shown.slice(-60))
})
