async function teardown(): Promise<void> {
  await globalThis.stopBrowserTests?.();
}

export { teardown as default };
