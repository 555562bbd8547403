// Nothing here leaves this server: no fonts, figures, proxy or assistants from
// elsewhere. The page's Content-Security-Policy would stop them anyway.
Scalar.createApiReference('#app', {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false,
})
