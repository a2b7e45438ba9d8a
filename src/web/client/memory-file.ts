/** A memory file as it stands on the disk. */
export interface MemoryFile {
  /** Null where there is none. */
  etag: string | null
  /** With its byte order mark and its own line ends; null where it is not UTF-8. */
  text: string | null
}

/** Reads a memory file. Rejects with what to tell where that is not possible. */
export async function loadMemory(address: string): Promise<MemoryFile> {
  const response = await fetch(address, { cache: 'no-cache' })
  if (response.status === 404) return { etag: null, text: '' }
  if (!response.ok) throw new Error(`The file cannot be read: ${await detailOf(response)}`)
  const bytes = await response.arrayBuffer()
  return { etag: response.headers.get('etag'), text: decoded(bytes) }
}

/** Writes it only where it still is what `etag` names: null for no file. */
export function saveMemory(address: string, etag: string | null, text: string): Promise<Response> {
  const held: Record<string, string> =
    etag === null ? { 'if-none-match': '*' } : { 'if-match': etag }
  const headers = { 'casefile-client': 'console', ...held }
  return fetch(address, { method: 'PUT', headers, body: new TextEncoder().encode(text) })
}

function decoded(bytes: ArrayBuffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

async function detailOf(response: Response): Promise<string> {
  const problem = (await response.json().catch(() => null)) as { detail?: string } | null
  return problem?.detail ?? `the service answered ${response.status}.`
}
