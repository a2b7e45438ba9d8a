import t from 'tap'
import { counted, sizeText } from '../../src/model/amounts.ts'

t.test('amounts as people read them', async (t) => {
  t.strictSame(
    [0, 1, 2].map((count) => counted(count, 'file')),
    ['0 files', '1 file', '2 files'],
  )
  t.equal(counted(2, 'older one is', 'older ones are'), '2 older ones are')
  const sizes: [number, string][] = [
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [4200, '4.1 KiB'],
    [1024 * 1024 - 1, '1.0 MiB'],
    [2 * 1024 * 1024, '2.0 MiB'],
  ]
  for (const [bytes, text] of sizes) t.equal(sizeText(bytes), text)
})
