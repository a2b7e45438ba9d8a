/** Recognizes pictures by their bytes, whatever their name says. */

export const PICTURE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const

export type PictureType = (typeof PICTURE_TYPES)[number]

export const MAX_PICTURE_BYTES = 10 * 1024 * 1024

export interface PictureFacts {
  type: PictureType
  /** In pixels. */
  width: number
  height: number
}

/** The picture of a proof: `artifacts/<name>` in the folder of the case. The hash of its bytes is that of the proof. */
export interface ProofImage extends PictureFacts {
  /** `<proof id>.<extension>` */
  name: string
  bytes: number
}

const EXTENSIONS: Record<PictureType, string> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
}

const PICTURE_NAME =
  /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.(?:png|jpg|webp|gif)$/

export function pictureName(proofId: string, type: PictureType): string {
  return `${proofId}.${EXTENSIONS[type]}`
}

/** The id of the proof whose picture has this file name; null for any other name. */
export function proofOfPicture(name: string): string | null {
  return PICTURE_NAME.exec(name)?.[1] ?? null
}

/** Type and size, as in `PNG, 1280 × 800 pixels`. */
export function pictureText({ type, width, height }: PictureFacts): string {
  const name = type === 'image/webp' ? 'WebP' : type.slice('image/'.length).toUpperCase()
  return `${name}, ${width} × ${height} pixels`
}

/** The type and size of a picture; null if the bytes are not the start of one. */
export function pictureFacts(bytes: Uint8Array): PictureFacts | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const found = png(view) ?? gif(view) ?? jpeg(view) ?? webp(view)
  return found && found.width > 0 && found.height > 0 ? found : null
}

function png(view: DataView): PictureFacts | null {
  const isPng =
    view.byteLength >= 33 && // the signature and the whole first chunk
    view.getUint32(0) === 0x89504e47 &&
    view.getUint32(4) === 0x0d0a1a0a &&
    view.getUint32(12) === 0x49484452 // IHDR
  if (!isPng) return null
  return { type: 'image/png', width: view.getUint32(16), height: view.getUint32(20) }
}

function gif(view: DataView): PictureFacts | null {
  if (view.byteLength < 13 || !/^GIF8[79]a$/.test(ascii(view, 0, 6))) return null
  return { type: 'image/gif', width: view.getUint16(6, true), height: view.getUint16(8, true) }
}

/** Walks through the segments to the frame header, which has the size. */
function jpeg(view: DataView): PictureFacts | null {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return null
  let at = 2
  while (at + 9 <= view.byteLength) {
    if (view.getUint8(at) !== 0xff) return null
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) {
      at += 1 // a fill byte
      continue
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) {
      return { type: 'image/jpeg', height: view.getUint16(at + 5), width: view.getUint16(at + 7) }
    }
    const hasNoLength = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)
    at += hasNoLength ? 2 : 2 + view.getUint16(at + 2)
  }
  return null
}

function webp(view: DataView): PictureFacts | null {
  if (view.byteLength < 30) return null
  if (ascii(view, 0, 4) !== 'RIFF' || ascii(view, 8, 4) !== 'WEBP') return null
  const type = 'image/webp'
  switch (ascii(view, 12, 4)) {
    case 'VP8 ':
      return {
        type,
        width: view.getUint16(26, true) & 0x3fff,
        height: view.getUint16(28, true) & 0x3fff,
      }
    case 'VP8L': {
      const bits = view.getUint32(21, true)
      return { type, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X': {
      const width = (view.getUint32(24, true) & 0xffffff) + 1
      const height = (view.getUint32(26, true) >>> 8) + 1
      return { type, width, height }
    }
    default:
      return null
  }
}

function ascii(view: DataView, at: number, length: number): string {
  let text = ''
  for (let index = at; index < at + length; index++) {
    text += String.fromCharCode(view.getUint8(index))
  }
  return text
}
