/** The parts of a browser that a sign-in needs: cookies by host, and redirects. */
export const followingBrowser = () => {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: URL): Map<string, string> => {
    const jar = jars.get(url.host) ?? new Map<string, string>();
    jars.set(url.host, jar);
    return jar;
  };
  /** One request, with the cookies of its host. */
  const visit = async (address: string, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(address);
    const jar = jarOf(url);
    const headers = new Headers(init.headers);
    if (jar.size > 0) headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      const at = pair.indexOf('=');
      if (/max-age=0/i.test(cookie) || pair.slice(at + 1) === '') jar.delete(pair.slice(0, at));
      else jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return response;
  };
  return {
    visit,
    cookies: (address: string): ReadonlyMap<string, string> => jarOf(new URL(address)),
    /** Follows redirects until the next URL is one that `isEnd` accepts, or until a response is no redirect. */
    follow: async (address: string, isEnd: (url: string) => boolean = () => false) => {
      let url = address;
      for (let hops = 0; hops < 20; hops++) {
        const response = await visit(url);
        const location = response.headers.get('location');
        if (location === null) return { url, response };
        url = new URL(location, url).href;
        if (isEnd(url)) return { url, response };
      }
      throw new Error(`The redirects from ${address} do not end.`);
    },
  };
};
