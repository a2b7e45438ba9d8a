/** The forms in which programs print a text: as it is, as JSON, and percent-encoded. */
export function formsOf(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1)
  const ascii = json.replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  const slashed = [json, ascii].map((form) => form.replaceAll('/', '\\/'))
  const uris = inAddress(text.toWellFormed())
  const lower = uris.map((uri) => uri.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))
  return [...new Set([text, json, ascii, ...slashed, ...uris, ...lower])]
}

/** Encoders differ in the characters they leave as they are, such as `/`. */
function inAddress(text: string): string[] {
  const part = encodeURIComponent(text)
  const strict = part.replace(/[!'()*]/g, hexCode)
  const form = new URLSearchParams({ '': text }).toString().slice(1)
  const whole = [part, strict, form].flatMap((uri) => [uri, uri.replaceAll('%2F', '/')])
  const all = [...whole, encodeURI(text)]
  return [...all, ...all.map((uri) => uri.replaceAll('%20', '+'))]
}

function hexCode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
