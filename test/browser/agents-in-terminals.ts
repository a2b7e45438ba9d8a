import { inBrowser } from '../fixtures/browser.ts'
import { axeViolations } from '../fixtures/browser-axe.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { hookedAgent } from '../fixtures/hooks.ts'

const CASE = '3359e9da-452b-4dcf-aac6-71dadc60c8d1'

inBrowser(
  'a conversation without a case gets one, and its session can be read',
  async (t, visitor) => {
    const app = await serveSample(t)
    const agent = hookedAgent(app)
    await agent.tell('SessionStart', { source: 'startup', model: 'opus' })
    const page = await visitor.open(app.url, { bypassCSP: true })
    await page.getByRole('link', { name: 'Choose its case' }).click()
    await page.getByRole('heading', { name: 'Agents in terminals' }).waitFor()

    async function isReadable(name: string) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        t.strictSame(await axeViolations(page), [], `${name}, ${colorScheme}`)
      }
      await page.setViewportSize({ width: 360, height: 740 })
      const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement)
      t.equal(scrollWidth, clientWidth, `${name}, on a phone`)
      await page.setViewportSize({ width: 1280, height: 800 })
    }
    await isReadable('the agents')

    await page.getByLabel('Case', { exact: true }).selectOption(CASE)
    await page.getByRole('button', { name: 'Add to this case' }).click()
    await page.locator('#with-case').waitFor()
    t.equal(await page.locator('#without-case').count(), 0)

    await agent.tell('UserPromptSubmit', { prompt: 'Go' })
    await page.reload()
    await page.getByRole('link', { name: /^Session / }).click()
    await page.getByText('The agent works on a plan in its terminal.').waitFor()
    await isReadable('a session in a terminal')
  },
)
