import type { FastifyReply } from 'fastify';
import { hash } from 'node:crypto';

const style = `body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1.5rem;color-scheme:light dark}
h1{font-size:1.4rem}
a{margin-right:1.5rem}`;

const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => escapes[character] ?? '');

/** Responds with a page that explains why a sign-in failed, with links to try again. It never redirects, so that no loop arises. */
export const sendSignInFailurePage = (reply: FastifyReply, status: number, message: string): FastifyReply =>
  reply
    .code(status)
    .header('content-security-policy', contentSecurityPolicy)
    .header('content-type', 'text/html; charset=utf-8').send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign-in failed – Bunting</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>You are not signed in</h1>
<p>${escapeHtml(message)}</p>
<p><a href="/auth/oidc/login">Try again</a><a href="/">Back to Bunting</a></p>
<p><small>Request ${escapeHtml(reply.request.id)}</small></p>
</main>
</body>
</html>
`);
