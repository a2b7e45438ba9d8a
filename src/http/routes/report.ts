import * as z from 'zod'
import { notLoaded } from '../../model/app-error.ts'
import { sessionOf } from '../../model/case-contents.ts'
import { loadReport, loadSession } from '../../report/contents.ts'
import { caseMarkdown, sessionMarkdown } from '../../report/markdown.ts'
import { caseHistory } from '../case-history.ts'
import { endpoint } from '../endpoint.ts'
import { bytesWithETag } from '../etag.ts'
import { harmless } from '../plain-text.ts'
import { caseIdParam } from '../schemas/params.ts'
import { sentId } from '../schemas/primitives.ts'

const HTML = 'text/html; charset=utf-8'
const MARKDOWN = 'text/markdown; charset=utf-8'

/** Nothing in a report runs; its styles and pictures are in its own text. */
const POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"

export const reportEndpoints = [
  endpoint({
    route: 'GET /cases/:id/report',
    id: 'getReport',
    tag: 'Cases',
    summary: 'Get a report of a case',
    description:
      'Returns one file that needs nothing else: the case, its checklist and history, its sessions with plans, approvals, steps and changes, and its proof with pictures. For mail, or to print. Texts and lists of a huge case are cut, which the report says.',
    params: { id: caseIdParam },
    query: {
      format: z.enum(['html', 'md']).optional().describe('`html` by default.'),
      session: sentId.optional().describe('Only this session, with `format=md`.'),
    },
    responses: {
      200: {
        description: 'The report.',
        bytes: [
          { type: HTML, description: 'With its styles and pictures.' },
          { type: MARKDOWN, description: 'Without pictures.' },
        ],
        headers: ['ETag', 'Content-Security-Policy'],
      },
    },
    example: { responses: { 200: '# Signed out again right after signing in\n…' } },
    async handle({ c, service, params: { id }, query: { format = 'html', session } }) {
      const contents = await service.store.read(id)
      const history = await caseHistory(service, contents)
      const text = new TextEncoder()
      if (session !== undefined) {
        const report = await loadSession(service, sessionOf(contents, session), history)
        return harmless(bytesWithETag(c, text.encode(sessionMarkdown(report)), MARKDOWN))
      }
      const report = await loadReport(service, contents, { history, madeAt: service.now() })
      if (format === 'md') {
        return harmless(bytesWithETag(c, text.encode(caseMarkdown(report)), MARKDOWN))
      }
      const { caseHtml } = await import('../../report/html.tsx').catch(notLoaded)
      const response = bytesWithETag(c, text.encode(await caseHtml(report)), HTML)
      response.headers.set('content-security-policy', POLICY)
      return response
    },
  }),
]
