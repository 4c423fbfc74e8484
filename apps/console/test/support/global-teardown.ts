const teardown = async (): Promise<void> => {
  await globalThis.stopBrowserTests?.();
};

export { teardown as default };
