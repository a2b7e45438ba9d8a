import { pictureFacts } from '../../../model/picture.ts'

/** A small copy: the policy of the page allows no `blob:` address for a picture. */
export async function previewOf(bytes: Uint8Array<ArrayBuffer>): Promise<HTMLElement | null> {
  const facts = pictureFacts(bytes)
  if (!facts) return null
  const scale = Math.min(1, 480 / facts.width, 480 / facts.height)
  const picture = await createImageBitmap(new Blob([bytes], { type: facts.type }), {
    resizeWidth: Math.max(1, Math.round(facts.width * scale)),
    resizeHeight: Math.max(1, Math.round(facts.height * scale)),
  }).catch(() => null) // the start is that of a picture, the rest may not be
  if (!picture) return null
  const canvas = document.createElement('canvas')
  canvas.width = picture.width
  canvas.height = picture.height
  canvas.setAttribute('role', 'img')
  canvas.setAttribute('aria-label', 'Preview of the picture')
  canvas.getContext('2d')!.drawImage(picture, 0, 0)
  return canvas
}
