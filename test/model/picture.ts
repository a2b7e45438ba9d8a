import fc from 'fast-check'
import t from 'tap'
import { pictureFacts, pictureName, pictureText, proofOfPicture } from '../../src/model/picture.ts'
import { HEADS, pngOf } from '../fixtures/pictures.ts'

t.test('pictures are recognized by their bytes, with their size', async (t) => {
  const png = pngOf(3, 2)
  t.strictSame(pictureFacts(png), { type: 'image/png', width: 3, height: 2 })
  for (const [type, bytes] of Object.entries(HEADS)) {
    t.strictSame(pictureFacts(bytes), { type, width: 320, height: 200 }, type)
  }
  const lossy = Buffer.from('524946461a00000057454250565038200a0000000000009d012a4001c80000', 'hex')
  t.strictSame(pictureFacts(lossy), { type: 'image/webp', width: 320, height: 200 })
  const lossless = Buffer.from(
    '524946461a000000574542505650384c0a0000002f3fc13100000000000000',
    'hex',
  )
  t.strictSame(pictureFacts(lossless), { type: 'image/webp', width: 320, height: 200 })
  t.equal(pictureText(pictureFacts(png)!), 'PNG, 3 × 2 pixels')
})

t.test('anything else is not a picture, and nothing throws', async (t) => {
  for (const text of ['', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'GIF89a', '\x89PNG\r\n']) {
    t.equal(pictureFacts(Buffer.from(text, 'latin1')), null, text)
  }
  t.equal(pictureFacts(pngOf(1, 1).fill(0, 16, 24)), null, 'without a size')
  const starts = [pngOf(1, 1), ...Object.values(HEADS), Buffer.alloc(0)]
  fc.assert(
    fc.property(fc.constantFrom(...starts), fc.nat(60), fc.uint8Array(), (start, cut, rest) => {
      pictureFacts(Buffer.concat([start.subarray(0, cut), rest]))
    }),
  )
})

t.test('a picture is named by its proof', async (t) => {
  const id = '11111111-1111-4111-8111-111111111111'
  for (const type of ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const) {
    t.equal(proofOfPicture(pictureName(id, type)), id)
  }
  for (const name of ['1-test.log', `${id}.svg`, `${id}.png.tmp`, `.${id}.png`]) {
    t.equal(proofOfPicture(name), null, name)
  }
})
