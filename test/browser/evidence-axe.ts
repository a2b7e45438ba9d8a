import { inBrowser } from '../fixtures/browser.ts'
import { axeViolations } from '../fixtures/browser-axe.ts'
import { openEvidence } from '../fixtures/browser-evidence.ts'
import { serveSample } from '../fixtures/browser-service.ts'

inBrowser('axe-core finds nothing serious in output, logs and tests', async (t, visitor) => {
  const service = await serveSample(t)
  const session = await openEvidence(service)
  const page = await visitor.open(session, { bypassCSP: true })
  for (const path of [
    '',
    '/log/1-test.tap',
    '/log/1-log.log?line=3777',
    '/log/1-log.log?filter=error',
  ]) {
    await page.goto(session + path)
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 })
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        t.strictSame(await axeViolations(page), [], `${path}, ${colorScheme}, ${width}`)
      }
      const wide = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement
        return scrollWidth - clientWidth
      })
      t.equal(wide, 0, `${path} at ${width}`)
    }
  }
})
