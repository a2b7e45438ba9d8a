import type { Page } from 'playwright-core'
import { inBrowser, isLive } from '../fixtures/browser.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { pngOf } from '../fixtures/pictures.ts'
import { must } from '../fixtures/session-client.ts'

/** Drops or pastes a picture, as from another program. */
async function bring(page: Page, how: 'drop' | 'paste', bytes: Buffer): Promise<void> {
  const at = how === 'drop' ? '#proof-title' : 'body'
  await page.locator(at).evaluate(
    (target, { how, base64 }) => {
      const bytes = Uint8Array.from(atob(base64), (each) => each.charCodeAt(0))
      const data = new DataTransfer()
      data.items.add(new File([bytes], 'after.png', { type: 'image/png' }))
      const usual = { bubbles: true, cancelable: true }
      if (how === 'paste') {
        target.dispatchEvent(new ClipboardEvent('paste', { ...usual, clipboardData: data }))
        return
      }
      for (const type of ['dragover', 'drop']) {
        target.dispatchEvent(new DragEvent(type, { ...usual, dataTransfer: data }))
      }
    },
    { how, base64: bytes.toString('base64') },
  )
}

inBrowser('a picture is dropped, pasted or chosen, then compared', async (t, visitor) => {
  const service = await serveSample(t)
  const { id } = await must(service, 'POST', '/cases', { title: 'The page is blue' })
  const page = await visitor.open(`${service.url}/case/${id}`)
  await isLive(page)

  await bring(page, 'drop', pngOf(300, 200))
  await page.locator('#chosen-file canvas').waitFor()
  const type = page.locator('#proof-type')
  t.equal(await type.inputValue(), 'screenshot')
  await must(service, 'PUT', `/cases/${id}`, { title: 'Refreshed meanwhile' })
  await page.getByRole('heading', { level: 1, name: 'Refreshed meanwhile' }).waitFor()
  t.equal(await page.locator('#chosen-file canvas').count(), 1, 'a refresh leaves it')
  await page.keyboard.press('Enter') // the focus is on Attach
  await page.locator('#proof .thumbnail img').waitFor()

  await bring(page, 'paste', pngOf(300, 200, [179, 38, 30]))
  await page.locator('#chosen-file canvas').waitFor()
  await page.getByRole('button', { name: 'Attach', exact: true }).click()
  await page.locator('#proof .thumbnail').nth(1).waitFor()

  const [proof] = await must(service, 'GET', `/cases/${id}/proof`)
  await page.goto(`${service.url}/case/${id}/proof/${proof.id}`)
  await isLive(page)
  const isShown = (image: HTMLImageElement) => image.decode().then(() => image.naturalWidth)
  t.equal(await page.locator('.picture-frame img').evaluate(isShown), 300)
  await page.getByText('Compare with a slider').click()
  const slider = page.getByRole('slider')
  await slider.focus()
  await page.keyboard.press('Home')
  const layers = page.locator('#picture-layers')
  const at = () => layers.evaluate((each) => each.style.getPropertyValue('--at'))
  t.equal(await at(), '0%')
  await must(service, 'PUT', `/cases/${id}/proof/${proof.id}/verify`)
  await page.locator('#proof-head').getByText('✓ verified').waitFor()
  t.equal(await at(), '0%', 'a refresh leaves it')
  t.equal(await page.locator('#picture-overlay').getAttribute('open'), '')
})

inBrowser('a file that only says that it is a picture is not sent', async (t, visitor) => {
  const service = await serveSample(t)
  const { id } = await must(service, 'POST', '/cases', { title: 'Not a picture' })
  const page = await visitor.open(`${service.url}/case/${id}`)
  await isLive(page)
  await bring(page, 'drop', Buffer.from([0, 1, 2]))
  await page
    .locator('#attach-form')
    .getByText(/neither UTF-8 text nor a PNG/)
    .waitFor()
  t.strictSame(await must(service, 'GET', `/cases/${id}/proof`), [])
})
