/** The path below which the gateway serves this page, such as `/bunting`; empty where it has an origin of its own. */
export const basePath = document.documentElement.dataset['basePath'] ?? '';

/** The URL of this Bunting without a final slash: other programs reach it here, if not elsewhere, too. */
export const ownUrl = `${location.origin}${basePath}`;

/** The path of the address bar as the routes name it. */
export function pathOfPage(): string {
  return location.pathname.startsWith(`${basePath}/`) ? location.pathname.slice(basePath.length) : location.pathname;
}
