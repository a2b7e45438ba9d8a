import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { eventually, holdBack, inBrowser, isFocused, isLive } from '../fixtures/browser.ts'
import { axeViolations } from '../fixtures/browser-axe.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { agentFiles, committed, plannedBy } from '../fixtures/plain-agents.ts'
import { must, planned, reaches, step } from '../fixtures/session-client.ts'

const PLAN = `## Hypothesis

The clock.

## Plan

First paragraph.

- keep this
- remove the export

\`\`\`js
const ttl = 60
const skew = 30
\`\`\`
`

/** An agent whose second plan does what it was asked. */
const AGENT = {
  plan: `if [ -e seen ]; then sed 's/remove the export/keep the export/; s/skew = 30/skew = 60/' plan.txt; else cat plan.txt; fi`,
}

async function serveAgent(t: Parameters<typeof serveSample>[0]) {
  const seen: { mark: () => void } = { mark: () => {} }
  const service = await serveSample(
    t,
    (root) => {
      const files = { ...agentFiles({ mine: AGENT }), 'plan.txt': PLAN }
      for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text)
      seen.mark = () => writeFileSync(join(root, 'seen'), '')
    },
    ['--trust'],
  )
  return { service, seen }
}

/** Comments on what is under the pointer. */
async function commentOn(page: Page, text: string, comment: string): Promise<void> {
  await writeComment(page, text, comment)
  await page.locator('#plan-text .comment-text').getByText(comment).waitFor()
}

async function writeComment(page: Page, text: string, comment: string): Promise<void> {
  await page.locator('#plan-text').getByText(text, { exact: true }).hover()
  await page.locator('#comment-plus').click()
  await page.locator('.comment-composer textarea').fill(comment)
  await page.keyboard.press('Control+Enter')
}

inBrowser(
  'a plan is reviewed line by line, and sent back with three comments',
  async (t, visitor) => {
    const { service, seen } = await serveAgent(t)
    const { ref } = await plannedBy(service, 'mine', { description: 'What the case asks for.' })
    const page = await visitor.open(`${service.url}/case/${ref.case_id}/session/1`)
    await isLive(page)
    await page.locator('#case-context').getByText('What the case asks for.').waitFor()

    await commentOn(page, 'remove the export', 'Keep it.')
    // the page is fetched late: the next comment is typed meanwhile
    const fetchNow = await holdBack(page, `${page.url()}?output=none`)
    await writeComment(page, '30', 'Why 30?')
    await page.locator('.comment-composer').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Comment', exact: true }).click()
    await page.locator('#comment-text').fill('Mind the docs.')
    fetchNow()
    await page.locator('#plan-text .comment-text').getByText('Why 30?').waitFor()
    await must(service, 'PUT', `/cases/${ref.case_id}`, { title: 'Another title' })
    await page.getByText('Another title').first().waitFor()
    await isFocused(page, '#comment-text')
    await page.keyboard.press('Control+Enter')
    await page.locator('#review .comment-text').getByText('Mind the docs.').waitFor()

    const comments = (await must(service, 'GET', ref.path)).comments.list
    const about = comments.map(({ line, quote, text, status }: Record<string, unknown>) => [
      line,
      quote,
      text,
      status,
    ])
    t.strictSame(about, [
      [4, '- remove the export', 'Keep it.', 'draft'],
      [8, 'const skew = 30', 'Why 30?', 'draft'],
      [null, '', 'Mind the docs.', 'draft'],
    ])
    t.match(await page.locator('#approve-button').textContent(), /Approve with 3 notes/)
    t.strictSame(await axeViolations(page), [])

    seen.mark()
    await page.getByRole('button', { name: 'Request changes (3)' }).click()
    await page.getByRole('button', { name: 'Send 3 comments' }).click()
    const addressed = page.locator('#review .comment[data-status=addressed]')
    await eventually(async () => (await addressed.count()) === 2)
    await page
      .locator('#review .comment[data-status=open] .comment-text')
      .getByText('Mind the docs.')
      .waitFor()

    await addressed.first().getByRole('button', { name: 'Resolve' }).click()
    await eventually(async () => (await addressed.count()) === 1)
    await page.getByText('1 resolved comment').waitFor()
    await page.getByRole('link', { name: 'What changed' }).click()
    await page.locator('.diff').getByText('keep the export').waitFor()
    t.equal(
      await page.locator('#review .comment[data-status=addressed]').count(),
      1,
      'beside the diff',
    )
    t.strictSame(await axeViolations(page), [])
  },
)

inBrowser('only plans that were read are approved together', async (t, visitor) => {
  const service = await serveSample(t, committed)
  const plan = (title: string) => planned(service, { runbook: step('true'), fields: { title } })
  const [ash, elm, oak, yew] = [
    await plan('Ash'),
    await plan('Elm'),
    await plan('Oak'),
    await plan('Yew, not read'),
  ]
  const page = await visitor.open(`${service.url}/inbox`)
  for (const ref of [ash, elm, oak]) {
    await page.goto(`${service.url}/case/${ref.case_id}/session/1`)
    await eventually(async () => (await must(service, 'GET', `${ref.path}/approval`)).seen)
  }
  await page.goto(`${service.url}/inbox`)
  const offer = page.locator('#approve-seen')
  await offer.getByRole('button', { name: 'Approve 3 plans you have read' }).waitFor()
  const { plan: text } = await must(service, 'GET', oak.path)
  await must(service, 'PUT', `${oak.path}/plan`, { plan: text.replace('true', 'false') })
  const button = offer.getByRole('button', { name: 'Approve 2 plans you have read' })
  await button.waitFor()
  t.match(await offer.innerText(), /Oak: its plan changed after you read it/)
  await button.click()
  await page.getByText('Approved 2 plans.').waitFor()
  for (const ref of [ash, elm]) await reaches(service, ref, 'complete')
  for (const ref of [oak, yew])
    t.match(await must(service, 'GET', ref.path), { state: 'plan_ready' })
})

inBrowser('a form in the plan opens wholly above the bar with Approve', async (t, visitor) => {
  const service = await serveSample(t)
  const ids = Array.from({ length: 20 }, (_, at) => `s${at + 1}`)
  const steps = ids.map((id) => step(`echo ${id}`, `sh run id=${id}`))
  const ref = await planned(service, { runbook: steps.join('\n') })
  const page = await visitor.open(`${service.url}/case/${ref.case_id}/session/1`)
  await isLive(page)
  const boxOf = async (selector: string) => (await page.locator(selector).boundingBox())!
  /** The end of the step is right above the bar, so that a form below it would be hidden. */
  const focusAtBar = (id: string) =>
    page.evaluate((id) => {
      const step = document.getElementById(`step-${id}`)!
      const bar = document.getElementById('approve')!
      const end = () => step.getBoundingClientRect().bottom - bar.getBoundingClientRect().top
      scrollBy({ top: end(), behavior: 'instant' })
      step.focus({ preventScroll: true })
      return Math.abs(end())
    }, id)
  const isSeen = async (form: string) => {
    const { y, height } = await boxOf(form)
    return y > 60 && y + height <= (await boxOf('#approve')).y
  }

  t.ok((await focusAtBar('s8')) < 2)
  await page.keyboard.press('c')
  await page.locator('.comment-composer textarea:focus').waitFor()
  t.ok(await eventually(() => isSeen('.comment-composer')), 'a comment')
  await must(service, 'PUT', `/cases/${ref.case_id}`, { title: 'Refreshed' })
  await page.getByText('Refreshed').first().waitFor()
  await page.locator('#step-s8 + .comment-composer textarea:focus').waitFor()
  await page.locator('.comment-composer + #step-s9').waitFor()
  t.ok(await isSeen('.comment-composer'), 'a refresh does not move it')
  await page.keyboard.press('Escape')

  t.ok((await focusAtBar('s10')) < 2)
  await page.locator('#step-s10').getByText('echo s10').hover()
  await page.locator('#comment-plus').click()
  t.ok(await eventually(() => isSeen('.comment-composer')), 'by the pointer')
  await page.keyboard.press('Escape')
})
