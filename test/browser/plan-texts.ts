import { readFileSync, writeFileSync } from 'node:fs'
import { eventually, inBrowser, isLive } from '../fixtures/browser.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { planned, step } from '../fixtures/session-client.ts'

const SAY = step('echo the first text runs', 'sh run id=say')
/** What the page calls its own parts, and what its script adds. */
const TAKEN = ['Changed', 'Errors', 'Text', 'Title', 'Plan changed', 'Plan errors', 'Approve form']

inBrowser('no heading of a plan passes for a part of the page', async (t, visitor) => {
  const service = await serveSample(t)
  const runbook = `${TAKEN.map((name) => `## ${name}!`).join('\n\n')}\n\n${SAY}`
  const ref = await planned(service, { runbook })
  const file = service.file(ref.case_id, 'sessions', '1.md')
  const page = await visitor.open(`${service.url}/case/${ref.case_id}/session/1`)
  await isLive(page)
  const headings = () => page.locator('#plan-text :is(h2, h3, h4)').allInnerTexts()
  const all = TAKEN.map((name) => `${name}!`)
  t.strictSame(await headings(), all)
  const button = page.locator('#approve-button')
  t.equal(await button.isEnabled(), true)

  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('echo the first text runs', 'echo the second text runs'))
  await page.locator('#plan-text').getByText('echo the second text runs').waitFor()
  await page.getByText('The plan just changed').waitFor()
  t.equal(await button.isEnabled(), false)
  t.strictSame(await headings(), all, 'all of the plan is still there')
  await page.getByRole('button', { name: "I've reviewed the changes" }).click()
  await eventually(() => button.isEnabled())
  t.strictSame(await headings(), all)
  const ids = await page.locator('[id]').evaluateAll((elements) => elements.map(({ id }) => id))
  t.strictSame(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
    'each id is there once',
  )
})

/** Signs that nobody sees, or that stand for a blank without being one. */
const UNSEEN = [
  '3164',
  '115F',
  '200B',
  '200C',
  '200D',
  '200E',
  '200F',
  '061C',
  '00AD',
  '202E',
  '2066',
  'FE0F',
  'E0101',
  'E0041',
  '00A0',
  '2003',
]

inBrowser('nothing that will run is hidden, however the plan is shown', async (t, visitor) => {
  const service = await serveSample(t)
  const lines = UNSEEN.map((code) => `echo ${code} a${String.fromCodePoint(parseInt(code, 16))}b`)
  const ref = await planned(service, { runbook: SAY })
  const file = service.file(ref.case_id, 'sessions', '1.md')
  const address = `${service.url}/case/${ref.case_id}/session/1`
  const page = await visitor.open(address)
  await isLive(page)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('echo the first text runs', lines.join('\n')))
  await page.locator('#plan-text').getByText('echo 2003').waitFor()
  for (const view of ['rendered', 'source', 'diff']) {
    await page.goto(`${address}?view=${view}`)
    const shown = (await page.locator('#plan-text').textContent()) ?? ''
    t.strictSame(
      UNSEEN.filter((code) => !shown.includes(`echo ${code} a[U+${code}]b`)),
      [],
      `each is shown in the view ${view}`,
    )
  }
})
